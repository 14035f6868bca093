"""Division as in C gives these wrong answers. In C, division cuts off the fraction, and % has the sign of the left
operand. Python rounds down, so -7 // 2 is -4 and -7 % 2 is 1. Use Python's own operators.
"""

from tier1_closures import BINARY
from wrong_copies_the_top import executed

AS_IN_C = {
    "//": lambda left, right: type(left % right)(int(left / right)),
    "%": lambda left, right: left - right * int(left / right),
}


def run(code, arguments):
    return executed(code, arguments, BINARY | AS_IN_C)
