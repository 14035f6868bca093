"""Fractions of the numbers as they are written in decimals, so that 0.1 is a tenth, and whole-number division upwards."""

from fractions import Fraction


def break_even(compile_s, slow_s, fast_s):
    cost = Fraction(str(compile_s))
    gain = Fraction(str(slow_s)) - Fraction(str(fast_s))
    if gain <= 0:
        # Each call is no faster.  It pays only where compiling costs nothing and calls are equal.
        return 1 if cost == 0 and gain == 0 else None
    calls = -(-cost // gain)
    return int(max(calls, 1))
