"""Computes with fractions of the decimals as they are written, so that 0.1 is a tenth. Divides whole numbers, rounding
up.

Trade: 0.1 is exactly one tenth. Computing with fractions takes longer than with floats.
"""

from fractions import Fraction


def break_even(compile_s, slow_s, fast_s):
    cost = Fraction(str(compile_s))
    gain = Fraction(str(slow_s)) - Fraction(str(fast_s))
    if gain <= 0:
        # A compiled call is not faster. Compiling pays only if it is free and both calls take equal time.
        return 1 if cost == 0 and gain == 0 else None
    calls = -(-cost // gain)
    return int(max(calls, 1))
