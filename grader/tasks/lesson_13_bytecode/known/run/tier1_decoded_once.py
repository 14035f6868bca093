"""Decodes each row into a number and an argument once, before the run."""

import json

from tier1_closures import BINARY, UNARY


LOAD, CONST, TWO, STORE, IF_FALSE, IF_TRUE, JUMP, COPY, SWAP, POP, ONE, RETURN = range(12)
KINDS = {
    "LOAD_FAST": LOAD,
    "LOAD_CONST": CONST,
    "BINARY_OP": TWO,
    "COMPARE_OP": TWO,
    "STORE_FAST": STORE,
    "POP_JUMP_IF_FALSE": IF_FALSE,
    "POP_JUMP_IF_TRUE": IF_TRUE,
    "JUMP": JUMP,
    "COPY": COPY,
    "SWAP": SWAP,
    "POP_TOP": POP,
    "UNARY_NEGATIVE": ONE,
    "UNARY_INVERT": ONE,
    "UNARY_NOT": ONE,
    "RETURN_VALUE": RETURN,
}


def run(code, arguments):
    decoded = []
    for name, argument in list(map(json.loads, code["instructions"])):
        kind = KINDS[name]
        if kind == TWO:
            argument = BINARY[argument]
        elif kind == ONE:
            argument = UNARY[name]
        decoded.append((kind, argument))
    return execute(decoded, dict(zip(code["parameters"], arguments)))


def execute(decoded, names, LOAD=LOAD, CONST=CONST, TWO=TWO, STORE=STORE):
    stack = []
    push, pop = stack.append, stack.pop
    at = 0
    while True:
        kind, argument = decoded[at]
        at += 1
        if kind == LOAD:
            push(names[argument])
        elif kind == TWO:
            right = pop()
            stack[-1] = argument(stack[-1], right)
        elif kind == CONST:
            push(argument)
        elif kind == STORE:
            names[argument] = pop()
        elif kind == IF_FALSE:
            if not pop():
                at = argument
        elif kind == IF_TRUE:
            if pop():
                at = argument
        elif kind == JUMP:
            at = argument
        elif kind == COPY:
            push(stack[-argument])
        elif kind == SWAP:
            stack[-1], stack[-argument] = stack[-argument], stack[-1]
        elif kind == POP:
            pop()
        elif kind == ONE:
            stack[-1] = argument(stack[-1])
        else:
            return pop()
