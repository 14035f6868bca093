"""Uses a Python class with a method for each instruction. getattr finds the method of each row once."""

import json
import operator


class Machine:
    operators = {
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

    def __init__(self, code, arguments):
        self.locals = dict(zip(code["parameters"], arguments))
        self.stack = []
        self.next = 0
        self.running = True
        self.result = None
        self.program = [
            (getattr(self, name.lower()), argument) for name, argument in list(map(json.loads, code["instructions"]))
        ]

    def execute(self):
        while self.running:
            method, argument = self.program[self.next]
            self.next += 1
            method(argument)
        return self.result

    def load_fast(self, name):
        self.stack.append(self.locals[name])

    def load_const(self, value):
        self.stack.append(value)

    def store_fast(self, name):
        self.locals[name] = self.stack.pop()

    def binary_op(self, symbol):
        right = self.stack.pop()
        left = self.stack.pop()
        self.stack.append(self.operators[symbol](left, right))

    compare_op = binary_op

    def unary_negative(self, _):
        self.stack.append(-self.stack.pop())

    def unary_invert(self, _):
        self.stack.append(~self.stack.pop())

    def unary_not(self, _):
        self.stack.append(not self.stack.pop())

    def copy(self, n):
        self.stack.append(self.stack[-n])

    def swap(self, n):
        self.stack[-1], self.stack[-n] = self.stack[-n], self.stack[-1]

    def pop_top(self, _):
        self.stack.pop()

    def jump(self, n):
        self.next = n

    def pop_jump_if_false(self, n):
        if not self.stack.pop():
            self.next = n

    def pop_jump_if_true(self, n):
        if self.stack.pop():
            self.next = n

    def return_value(self, _):
        self.result = self.stack.pop()
        self.running = False


def run(code, arguments):
    return Machine(code, arguments).execute()
