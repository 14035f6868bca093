"""Uses a match statement for each row, and a dict of lambdas for the operators."""

import json

BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def run(code, arguments):
    local = dict(zip(code["parameters"], arguments))
    rows = code["instructions"]
    stack = []
    at = 0
    while True:
        row = rows[at]
        at += 1
        match json.loads(row):
            case ["LOAD_FAST", name]:
                stack.append(local[name])
            case ["LOAD_CONST", value]:
                stack.append(value)
            case ["STORE_FAST", name]:
                local[name] = stack.pop()
            case ["BINARY_OP" | "COMPARE_OP", symbol]:
                right = stack.pop()
                stack[-1] = BINARY[symbol](stack[-1], right)
            case ["UNARY_NEGATIVE", _]:
                stack[-1] = -stack[-1]
            case ["UNARY_INVERT", _]:
                stack[-1] = ~stack[-1]
            case ["UNARY_NOT", _]:
                stack[-1] = not stack[-1]
            case ["COPY", n]:
                stack.append(stack[-n])
            case ["SWAP", n]:
                stack[-n], stack[-1] = stack[-1], stack[-n]
            case ["POP_TOP", _]:
                stack.pop()
            case ["JUMP", n]:
                at = n
            case ["POP_JUMP_IF_FALSE", n]:
                if not stack.pop():
                    at = n
            case ["POP_JUMP_IF_TRUE", n]:
                if stack.pop():
                    at = n
            case ["RETURN_VALUE", _]:
                return stack.pop()
