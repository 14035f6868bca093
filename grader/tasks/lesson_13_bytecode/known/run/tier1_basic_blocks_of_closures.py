"""Cuts the program into basic blocks. A for loop calls the closures of a block, and the end of a block chooses the next
block.
"""

import json
from operator import (
    add,
    and_,
    eq,
    floordiv,
    ge,
    gt,
    invert,
    le,
    lshift,
    lt,
    mod,
    mul,
    ne,
    neg,
    not_,
    or_,
    pow,
    rshift,
    sub,
    truediv,
    xor,
)

TWO = {
    "+": add,
    "-": sub,
    "*": mul,
    "/": truediv,
    "//": floordiv,
    "%": mod,
    "**": pow,
    "&": and_,
    "|": or_,
    "^": xor,
    "<<": lshift,
    ">>": rshift,
    "<": lt,
    "<=": le,
    "==": eq,
    "!=": ne,
    ">": gt,
    ">=": ge,
}
ONE = {"UNARY_NEGATIVE": neg, "UNARY_INVERT": invert, "UNARY_NOT": not_}
LAST = {"JUMP", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE", "RETURN_VALUE"}


def run(code, arguments):
    rows = list(map(json.loads, code["instructions"]))
    stack = []
    push, pop = stack.append, stack.pop
    names = dict(zip(code["parameters"], arguments))

    def load(name):
        return lambda: push(names[name])

    def constant(value):
        return lambda: push(value)

    def store(name):
        def act():
            names[name] = pop()

        return act

    def binary(symbol):
        function = TWO[symbol]

        def act():
            right = pop()
            push(function(pop(), right))

        return act

    def unary(function):
        return lambda: push(function(pop()))

    def copy(n):
        return lambda: push(stack[-n])

    def swap(n):
        def act():
            stack[-1], stack[-n] = stack[-n], stack[-1]

        return act

    makers = {
        "LOAD_FAST": load,
        "LOAD_CONST": constant,
        "STORE_FAST": store,
        "BINARY_OP": binary,
        "COMPARE_OP": binary,
        "COPY": copy,
        "SWAP": swap,
    }

    def action(name, argument):
        if name == "POP_TOP":
            return pop
        if name in ONE:
            return unary(ONE[name])
        return makers[name](argument)

    starts = {0}
    for i, (name, argument) in enumerate(rows):
        if name in LAST:
            starts.add(i + 1)
            if name != "RETURN_VALUE":
                starts.add(argument)

    blocks = {}
    actions = []
    start = 0
    for i, (name, argument) in enumerate(rows):
        if i in starts:
            start, actions = i, []
        if name in LAST:
            blocks[start] = actions, name, argument, i + 1
        else:
            actions.append(action(name, argument))
            if i + 1 in starts:
                blocks[start] = actions, "JUMP", i + 1, i + 1

    at = 0
    while True:
        actions, how, target, following = blocks[at]
        for act in actions:
            act()
        if how == "POP_JUMP_IF_FALSE":
            at = following if pop() else target
        elif how == "POP_JUMP_IF_TRUE":
            at = target if pop() else following
        elif how == "JUMP":
            at = target
        else:
            return pop()
