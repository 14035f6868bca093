"""Needs few opcodes without exec. In each block, expressions are trees of closures that use one list of cells.

Trade: No text is compiled. Each operation is a call of a closure, which takes longer than an operator.
"""

import json

from tier1_closures import BINARY, UNARY


LIMIT = 30  # the largest depth of a tree before its values are stored in cells


class Value:
    """A future value of the stack: a closure that computes it, its cell if it has one, and the depth of its tree."""

    __slots__ = ("get", "cell", "constant", "depth")

    def __init__(self, get, cell=None, constant=False, depth=0):
        self.get, self.cell, self.constant, self.depth = get, cell, constant, depth


def run(code, arguments):
    rows = list(map(json.loads, code["instructions"]))
    place = {}
    for name in code["parameters"]:
        place.setdefault(name, len(place))
    for op, argument in rows:
        if op in ("LOAD_FAST", "STORE_FAST"):
            place.setdefault(argument, len(place))
    base = len(place)
    spare = base + len(rows) + 1
    cells = [None] * (spare + 1)
    cells[: len(arguments)] = arguments

    def in_cell(i):
        return Value(lambda: cells[i], cell=i)

    def fixed(value):
        return Value(lambda: value, constant=True)

    def two(function, left, right):
        depth = max(left.depth, right.depth) + 1
        a, b = left.get, right.get
        i, j = left.cell, right.cell
        if i is not None and j is not None:
            return Value(lambda: function(cells[i], cells[j]), depth=depth)
        if i is not None and right.constant:
            value = b()
            return Value(lambda: function(cells[i], value), depth=depth)
        if i is not None:
            return Value(lambda: function(cells[i], b()), depth=depth)
        if j is not None:
            return Value(lambda: function(a(), cells[j]), depth=depth)
        if right.constant:
            value = b()
            return Value(lambda: function(a(), value), depth=depth)
        return Value(lambda: function(a(), b()), depth=depth)

    def one(function, value):
        get = value.get
        return Value(lambda: function(get()), depth=value.depth + 1)

    def assignment(pairs):
        if len(pairs) == 1:
            ((to, get),) = pairs

            def act():
                cells[to] = get()
        else:

            def act():
                for to, value in [(to, get()) for to, get in pairs]:
                    cells[to] = value

        return act

    starts = {0}
    for i, (op, argument) in enumerate(rows):
        if op == "JUMP" or op.startswith("POP_JUMP"):
            starts |= {argument, i + 1}

    def translate(start, height):
        actions = []
        stack = [in_cell(base + j) for j in range(height)]

        def settle(*extra):
            pairs = [(base + j, value.get) for j, value in enumerate(stack) if value.cell != base + j]
            pairs.extend(extra)
            if pairs:
                actions.append(assignment(pairs))
                stack[:] = [in_cell(base + j) for j in range(len(stack))]
            return bool(pairs)

        i = start
        while True:
            op, argument = rows[i]
            if op == "LOAD_FAST":
                stack.append(in_cell(place[argument]))
            elif op == "LOAD_CONST":
                stack.append(fixed(argument))
            elif op == "STORE_FAST":
                value = stack.pop()
                settle((place[argument], value.get))
            elif op in ("BINARY_OP", "COMPARE_OP"):
                right = stack.pop()
                left = stack.pop()
                stack.append(two(BINARY[argument], left, right))
            elif op in UNARY:
                stack.append(one(UNARY[op], stack.pop()))
            elif op == "COPY":
                if stack[-argument].depth:
                    settle()
                stack.append(stack[-argument])
            elif op == "SWAP":
                stack[-1], stack[-argument] = stack[-argument], stack[-1]
            elif op == "POP_TOP":
                stack.pop()
            elif op == "JUMP":
                settle()
                return actions, None, argument, argument, len(stack)
            elif op.startswith("POP_JUMP"):
                test = stack.pop().get
                if any(value.cell != base + j for j, value in enumerate(stack)):
                    settle((spare, test))
                    test = in_cell(spare).get
                yes, no = (argument, i + 1) if op == "POP_JUMP_IF_TRUE" else (i + 1, argument)
                return actions, test, yes, no, len(stack)
            elif op == "RETURN_VALUE":
                return actions, stack.pop().get, None, None, 0
            if stack and stack[-1].depth > LIMIT:
                settle()
            i += 1
            if i in starts:
                settle()
                return actions, None, i, i, len(stack)

    blocks = {}
    todo = [(0, 0)]
    while todo:
        start, height = todo.pop()
        if start is not None and start not in blocks:
            actions, test, yes, no, after = translate(start, height)
            blocks[start] = actions, test, yes, no
            todo += [(yes, after), (no, after)]

    at = 0
    while True:
        actions, test, yes, no = blocks[at]
        for act in actions:
            act()
        if test is None:
            at = yes
        elif yes is None:
            return test()
        else:
            at = yes if test() else no
