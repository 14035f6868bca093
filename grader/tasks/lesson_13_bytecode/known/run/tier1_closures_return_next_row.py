"""Makes a closure for each row before the run. A closure executes its row and returns the number of the next row."""

import json

from tier1_closures import BINARY, UNARY


def run(code, arguments):
    stack = []
    push = stack.append
    pop = stack.pop
    variables = dict(zip(code["parameters"], arguments))

    def compiled(name, argument, following):
        if name == "LOAD_FAST":

            def step():
                push(variables[argument])
                return following
        elif name == "LOAD_CONST":

            def step():
                push(argument)
                return following
        elif name == "STORE_FAST":

            def step():
                variables[argument] = pop()
                return following
        elif name == "BINARY_OP" or name == "COMPARE_OP":
            function = BINARY[argument]

            def step():
                right = pop()
                stack[-1] = function(stack[-1], right)
                return following
        elif name in UNARY:
            function = UNARY[name]

            def step():
                stack[-1] = function(stack[-1])
                return following
        elif name == "COPY":

            def step():
                push(stack[-argument])
                return following
        elif name == "SWAP":

            def step():
                stack[-1], stack[-argument] = stack[-argument], stack[-1]
                return following
        elif name == "POP_TOP":

            def step():
                pop()
                return following
        elif name == "JUMP":

            def step():
                return argument
        elif name == "POP_JUMP_IF_FALSE":

            def step():
                return following if pop() else argument
        elif name == "POP_JUMP_IF_TRUE":

            def step():
                return argument if pop() else following
        elif name == "RETURN_VALUE":

            def step():
                return -1
        else:
            raise ValueError(name)
        return step

    steps = [compiled(name, argument, i + 1) for i, (name, argument) in enumerate(list(map(json.loads, code["instructions"])))]
    i = 0
    while i >= 0:
        i = steps[i]()
    return pop()
