"""Compiling was divided by what a call took before, as if a compiled call took no time. What a call earns back is the
difference."""

from math import ceil


def break_even(compile_s, slow_s, fast_s):
    if slow_s < fast_s or (slow_s == fast_s and compile_s > 0):
        return None
    return max(1, ceil(compile_s / slow_s))
