"""Returns the compile time divided by the saving per call, rounded up. Treats the cases in which nothing is saved
separately.
"""

from fractions import Fraction
from math import ceil


def break_even(compile_s, slow_s, fast_s):
    saved = Fraction(slow_s) - Fraction(fast_s)
    if saved < 0:
        return None
    if saved == 0:
        return None if compile_s > 0 else 1
    return max(1, ceil(Fraction(compile_s) / saved))
