"""Division as in C gives these wrong answers. In C, division cuts off the fraction, and % has the sign of the left
operand. Python rounds down, so -7 // 2 is -4 and -7 % 2 is 1. Use Python's own operators.
"""

import json
import operator

BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": lambda left, right: type(left % right)(int(left / right)),
    "%": lambda left, right: left - right * int(left / right),
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
    names = dict(zip(code["parameters"], arguments))
    instructions = list(map(json.loads, code["instructions"]))
    stack = []
    at = 0
    while True:
        name, argument = instructions[at]
        at += 1
        if name == "LOAD_FAST":
            stack.append(names[argument])
        elif name == "LOAD_CONST":
            stack.append(argument)
        elif name == "BINARY_OP" or name == "COMPARE_OP":
            right = stack.pop()
            stack[-1] = BINARY[argument](stack[-1], right)
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
            stack.append(stack[-argument])
        elif name == "SWAP":
            stack[-1], stack[-argument] = stack[-argument], stack[-1]
        elif name == "POP_TOP":
            stack.pop()
        elif name in UNARY:
            stack[-1] = UNARY[name](stack[-1])
        else:
            return stack.pop()
