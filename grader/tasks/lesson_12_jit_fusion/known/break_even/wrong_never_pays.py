"""Returning a number although compiled calls save nothing gives these wrong answers. If a compiled call is not faster,
compiling does not pay after any number of calls: return None.
"""

from math import ceil


def break_even(compile_s, slow_s, fast_s):
    if slow_s == fast_s:
        return 1
    return max(1, ceil(abs(compile_s / (slow_s - fast_s))))
