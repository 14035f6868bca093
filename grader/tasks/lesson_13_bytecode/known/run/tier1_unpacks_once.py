"""Unpacks each row once, and tests the common cases first."""

import json


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
            left = stack.pop()
            stack.append(operation(argument, left, right))
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
        elif name == "UNARY_NEGATIVE":
            stack.append(-stack.pop())
        elif name == "UNARY_INVERT":
            stack.append(~stack.pop())
        elif name == "UNARY_NOT":
            stack.append(not stack.pop())
        else:
            return stack.pop()


def operation(symbol, left, right):
    if symbol in ("+", "-", "*", "/", "//", "%"):
        if symbol == "+":
            return left + right
        if symbol == "-":
            return left - right
        if symbol == "*":
            return left * right
        if symbol == "//":
            return left // right
        return left % right if symbol == "%" else left / right
    if symbol in ("<", "<=", "==", "!=", ">", ">="):
        if symbol == "<":
            return left < right
        if symbol == "<=":
            return left <= right
        if symbol == ">":
            return left > right
        if symbol == ">=":
            return left >= right
        return left == right if symbol == "==" else left != right
    if symbol == "**":
        return left**right
    if symbol == "&":
        return left & right
    if symbol == "|":
        return left | right
    if symbol == "^":
        return left ^ right
    return left << right if symbol == "<<" else left >> right
