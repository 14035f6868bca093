"""Division as in C gives these wrong answers. In C, division cuts off the fraction, and % has the sign of the left
operand. Python rounds down, so -7 // 2 is -4 and -7 % 2 is 1. Use Python's own operators.
"""

from baseline import operation, run

as_in_python = operation


def operation(symbol, left, right):
    if symbol == "//":
        return type(left % right)(int(left / right))
    if symbol == "%":
        return left - right * int(left / right)
    return as_in_python(symbol, left, right)
