"""Dividing the compile time by the time of a slow call gives these wrong answers. This treats a compiled call as free.
A compiled call saves only the difference of the two times.
"""

from math import ceil


def break_even(compile_s, slow_s, fast_s):
    if slow_s < fast_s or (slow_s == fast_s and compile_s > 0):
        return None
    return max(1, ceil(compile_s / slow_s))
