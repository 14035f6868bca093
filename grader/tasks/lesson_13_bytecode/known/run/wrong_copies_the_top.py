"""Pushing the top value for every COPY n gives these wrong answers. COPY n pushes the n-th value from the top. COPY 1
pushes the top, and COPY 2 the value below it. A chained comparison such as a < b < c uses COPY 2.
"""

import json
from operator import invert, neg, not_

UNARY = {"UNARY_NEGATIVE": neg, "UNARY_INVERT": invert, "UNARY_NOT": not_}


def run(code, arguments):
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
            stack[-1] = eval(f"left {argument} right", {"left": stack[-1], "right": right})
        elif name == "STORE_FAST":
            names[argument] = stack.pop()
        elif name == "POP_JUMP_IF_FALSE":
            if not stack.pop():
                at = argument
        elif name == "POP_JUMP_IF_TRUE":
            if stack.pop():
                at = argument
        elif name == "JUMP":
            at = argument
        elif name == "COPY":
            stack.append(stack[-1])
        elif name == "SWAP":
            stack[-1], stack[-argument] = stack[-argument], stack[-1]
        elif name == "POP_TOP":
            stack.pop()
        elif name in UNARY:
            stack[-1] = UNARY[name](stack[-1])
        else:
            return stack.pop()
