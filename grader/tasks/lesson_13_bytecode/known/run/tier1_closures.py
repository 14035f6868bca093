"""Makes a closure for each row before the run.

Trade: No text is compiled, and each row of the program stays a function of its own. Each row costs a call in every
round of a loop, so it is slower than a translation.
"""

import json
import operator

BINARY = {
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
}
UNARY = {"UNARY_NEGATIVE": operator.neg, "UNARY_INVERT": operator.invert, "UNARY_NOT": operator.not_}


def run(code, arguments):
    """Return the result. Each local and each level of the stack has a fixed index in one list, so nothing is pushed."""
    instructions = list(map(json.loads, code["instructions"]))
    places = {name: place for place, name in enumerate(code["parameters"])}
    for name, argument in instructions:
        if name in ("LOAD_FAST", "STORE_FAST"):
            places.setdefault(argument, len(places))
    frame = [*arguments, *[None] * (len(places) - len(arguments) + 50)]
    steps = [None] * len(instructions)
    depths = {0: len(places)}
    waiting = [0]
    while waiting:
        at = waiting.pop()
        if steps[at] is not None:
            continue
        name, argument = instructions[at]
        step, depth, follow = made(name, argument, at, depths[at], places)
        steps[at] = step
        for target in follow:
            if target not in depths:
                depths[target] = depth
                waiting.append(target)
    at = 0
    while at >= 0:
        at = steps[at](frame)
    return frame[-1]


def made(name, argument, at, top, places):
    after = at + 1
    if name in ("LOAD_FAST", "STORE_FAST", "COPY"):
        source, target, depth = top - 1, top, top + 1
        if name == "LOAD_FAST":
            source = places[argument]
        elif name == "COPY":
            source = top - argument
        else:
            target, depth = places[argument], top - 1

        def step(frame):
            frame[target] = frame[source]
            return after

        return step, depth, [after]
    if name == "LOAD_CONST":

        def step(frame):
            frame[top] = argument
            return after

        return step, top + 1, [after]
    if name in ("BINARY_OP", "COMPARE_OP"):
        operation, left, right = BINARY[argument], top - 2, top - 1

        def step(frame):
            frame[left] = operation(frame[left], frame[right])
            return after

        return step, top - 1, [after]
    if name in UNARY:
        operation, last = UNARY[name], top - 1

        def step(frame):
            frame[last] = operation(frame[last])
            return after

        return step, top, [after]
    if name in ("POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE"):
        last = top - 1
        yes, no = (after, argument) if name == "POP_JUMP_IF_FALSE" else (argument, after)
        return (lambda frame: yes if frame[last] else no), top - 1, [after, argument]
    if name == "JUMP":
        return (lambda frame: argument), top, [argument]
    if name == "POP_TOP":
        return (lambda frame: after), top - 1, [after]
    if name == "SWAP":
        one, other = top - 1, top - argument

        def step(frame):
            frame[one], frame[other] = frame[other], frame[one]
            return after

        return step, top, [after]

    def step(frame):
        frame[-1] = frame[top - 1]
        return -1

    return step, top - 1, []
