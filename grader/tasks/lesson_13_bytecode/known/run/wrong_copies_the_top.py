"""Pushing the top value for every COPY n gives these wrong answers. COPY n pushes the n-th value from the top. COPY 1
pushes the top, and COPY 2 the value below it. A chained comparison such as a < b < c uses COPY 2.
"""

import json
from operator import not_

from tier1_closures import BINARY, UNARY


def run(code, arguments):
    return executed(code, arguments, copied=lambda stack, n: stack[-1])


def executed(code, arguments, binary=BINARY, is_false=not_, copied=lambda stack, n: stack[-n]):
    names = dict(zip(code["parameters"], arguments))
    rows = list(map(json.loads, code["instructions"]))
    stack = []
    at = 0
    while True:
        name, argument = rows[at]
        at += 1
        if name == "LOAD_FAST":
            stack.append(names[argument])
        elif name == "LOAD_CONST":
            stack.append(argument)
        elif name == "BINARY_OP" or name == "COMPARE_OP":
            right = stack.pop()
            stack[-1] = binary[argument](stack[-1], right)
        elif name == "STORE_FAST":
            names[argument] = stack.pop()
        elif name == "POP_JUMP_IF_FALSE":
            if is_false(stack.pop()):
                at = argument
        elif name == "POP_JUMP_IF_TRUE":
            if not is_false(stack.pop()):
                at = argument
        elif name == "JUMP":
            at = argument
        elif name == "COPY":
            stack.append(copied(stack, argument))
        elif name == "SWAP":
            stack[-1], stack[-argument] = stack[-argument], stack[-1]
        elif name == "POP_TOP":
            stack.pop()
        elif name in UNARY:
            stack[-1] = UNARY[name](stack[-1])
        else:
            return stack.pop()
