"""Makes one closure for several rows: load, load, operator, and perhaps store or jump. Every row also has its own
closure, so that a jump into the middle works.

Trade: A frequent group of rows costs only one call. Each kind of group needs its own code.
"""

import json
import operator

FUNCTIONS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "UNARY_NEGATIVE": operator.neg,
    "UNARY_INVERT": operator.invert,
    "UNARY_NOT": operator.not_,
}


def run(code, arguments):
    rows = list(map(json.loads, code["instructions"]))
    cells = list(arguments)  # locals and constants
    place_of = {name: i for i, name in enumerate(code["parameters"])}
    stack = []
    push, pop = stack.append, stack.pop

    # the index that each row loads or stores, or None
    places = []
    for name, argument in rows:
        if name == "LOAD_CONST":
            places.append(len(cells))
            cells.append(argument)
        elif name == "LOAD_FAST" or name == "STORE_FAST":
            if argument not in place_of:
                place_of[argument] = len(cells)
                cells.append(None)
            places.append(place_of[argument])
        else:
            places.append(None)

    def kind(i):
        return rows[i][0] if i < len(rows) else None

    def is_load(i):
        return kind(i) in ("LOAD_FAST", "LOAD_CONST")

    def is_binary(i):
        return kind(i) in ("BINARY_OP", "COMPARE_OP")

    def fused(i):
        a, b, f = places[i], places[i + 1], FUNCTIONS[rows[i + 2][1]]
        if kind(i + 3) == "STORE_FAST":
            to, after = places[i + 3], i + 4

            def step():
                cells[to] = f(cells[a], cells[b])
                return after
        elif kind(i + 3) == "POP_JUMP_IF_FALSE":
            target, after = rows[i + 3][1], i + 4

            def step():
                return after if f(cells[a], cells[b]) else target
        elif kind(i + 3) == "POP_JUMP_IF_TRUE":
            target, after = rows[i + 3][1], i + 4

            def step():
                return target if f(cells[a], cells[b]) else after
        else:
            after = i + 3

            def step():
                push(f(cells[a], cells[b]))
                return after

        return step

    def load_and_binary(i):
        b, f, after = places[i], FUNCTIONS[rows[i + 1][1]], i + 2

        def step():
            stack[-1] = f(stack[-1], cells[b])
            return after

        return step

    def single(i):
        name, argument = rows[i]
        place, after = places[i], i + 1
        if is_load(i):

            def step():
                push(cells[place])
                return after
        elif name == "STORE_FAST":

            def step():
                cells[place] = pop()
                return after
        elif is_binary(i):
            f = FUNCTIONS[argument]

            def step():
                right = pop()
                stack[-1] = f(stack[-1], right)
                return after
        elif name in FUNCTIONS:
            f = FUNCTIONS[name]

            def step():
                stack[-1] = f(stack[-1])
                return after
        elif name == "COPY":

            def step():
                push(stack[-argument])
                return after
        elif name == "SWAP":

            def step():
                stack[-1], stack[-argument] = stack[-argument], stack[-1]
                return after
        elif name == "POP_TOP":

            def step():
                pop()
                return after
        elif name == "JUMP":

            def step():
                return argument
        elif name == "POP_JUMP_IF_FALSE":

            def step():
                return after if pop() else argument
        elif name == "POP_JUMP_IF_TRUE":

            def step():
                return argument if pop() else after
        else:

            def step():
                return -1

        return step

    steps = []
    for i in range(len(rows)):
        if is_load(i) and is_load(i + 1) and is_binary(i + 2):
            steps.append(fused(i))
        elif is_load(i) and is_binary(i + 1):
            steps.append(load_and_binary(i))
        else:
            steps.append(single(i))

    i = 0
    while i >= 0:
        i = steps[i]()
    return pop()
