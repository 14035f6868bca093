"""Goes through a chain of comparisons for every step."""

import json


def run(code, arguments):
    names = {}
    for i in range(len(arguments)):
        names[code["parameters"][i]] = arguments[i]
    stack = []
    at = 0
    while True:
        name, argument = json.loads(code["instructions"][at])
        at = at + 1
        if name == "COPY":
            stack.append(stack[len(stack) - argument])
        elif name == "SWAP":
            place = len(stack) - argument
            top = stack[-1]
            stack[-1] = stack[place]
            stack[place] = top
        elif name == "POP_TOP":
            stack.pop()
        elif name == "JUMP":
            at = argument
        elif name == "RETURN_VALUE":
            return stack.pop()
        elif name == "UNARY_NEGATIVE":
            stack.append(-stack.pop())
        elif name == "UNARY_INVERT":
            stack.append(~stack.pop())
        elif name == "UNARY_NOT":
            stack.append(not stack.pop())
        elif name == "POP_JUMP_IF_FALSE":
            if not stack.pop():
                at = argument
        elif name == "POP_JUMP_IF_TRUE":
            if stack.pop():
                at = argument
        elif name == "LOAD_CONST":
            stack.append(argument)
        elif name == "LOAD_FAST":
            stack.append(names[argument])
        elif name == "STORE_FAST":
            names[argument] = stack.pop()
        elif name == "BINARY_OP" or name == "COMPARE_OP":
            right = stack.pop()
            left = stack.pop()
            stack.append(operation(argument, left, right))


def operation(symbol, left, right):
    if symbol == "+":
        return left + right
    elif symbol == "-":
        return left - right
    elif symbol == "*":
        return left * right
    elif symbol == "//":
        return left // right
    elif symbol == "%":
        return left % right
    elif symbol == "/":
        return left / right
    elif symbol == "**":
        return left**right
    elif symbol == "&":
        return left & right
    elif symbol == "|":
        return left | right
    elif symbol == "^":
        return left ^ right
    elif symbol == "<<":
        return left << right
    elif symbol == ">>":
        return left >> right
    elif symbol == "<":
        return left < right
    elif symbol == "<=":
        return left <= right
    elif symbol == "==":
        return left == right
    elif symbol == "!=":
        return left != right
    elif symbol == ">":
        return left > right
    elif symbol == ">=":
        return left >= right
