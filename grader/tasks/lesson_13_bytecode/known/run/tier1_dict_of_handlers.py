"""Uses a dict from instruction name to a handler (stack, locals, argument, row), which returns the next row."""

import json
import operator

OPS = {
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


def load_fast(stack, names, name, row):
    stack.append(names[name])
    return row + 1


def load_const(stack, names, value, row):
    stack.append(value)
    return row + 1


def store_fast(stack, names, name, row):
    names[name] = stack.pop()
    return row + 1


def binary(stack, names, symbol, row):
    right = stack.pop()
    stack[-1] = OPS[symbol](stack[-1], right)
    return row + 1


def unary(function):
    def handler(stack, names, _, row):
        stack[-1] = function(stack[-1])
        return row + 1

    return handler


def copy(stack, names, n, row):
    stack.append(stack[-n])
    return row + 1


def swap(stack, names, n, row):
    stack[-1], stack[-n] = stack[-n], stack[-1]
    return row + 1


def pop_top(stack, names, _, row):
    del stack[-1]
    return row + 1


HANDLERS = {
    "LOAD_FAST": load_fast,
    "LOAD_CONST": load_const,
    "STORE_FAST": store_fast,
    "BINARY_OP": binary,
    "COMPARE_OP": binary,
    "UNARY_NEGATIVE": unary(operator.neg),
    "UNARY_INVERT": unary(operator.invert),
    "UNARY_NOT": unary(operator.not_),
    "COPY": copy,
    "SWAP": swap,
    "POP_TOP": pop_top,
    "JUMP": lambda stack, names, target, row: target,
    "POP_JUMP_IF_FALSE": lambda stack, names, target, row: row + 1 if stack.pop() else target,
    "POP_JUMP_IF_TRUE": lambda stack, names, target, row: target if stack.pop() else row + 1,
}


def run(code, arguments):
    stack = []
    names = dict(zip(code["parameters"], arguments))
    rows = list(map(json.loads, code["instructions"]))
    row = 0
    while rows[row][0] != "RETURN_VALUE":
        name, argument = rows[row]
        row = HANDLERS[name](stack, names, argument, row)
    return stack.pop()
