"""Comparisons that push 1 and 0 give these wrong answers. 1 and 0 are equal to True and False, but they are int, and
CPython returns a bool.
"""

from tier1_closures import BINARY
from wrong_copies_the_top import executed


def number(compare):
    return lambda left, right: int(compare(left, right))


def run(code, arguments):
    numbers = {symbol: number(BINARY[symbol]) for symbol in ("<", "<=", "==", "!=", ">", ">=")}
    return executed(code, arguments, BINARY | numbers)
