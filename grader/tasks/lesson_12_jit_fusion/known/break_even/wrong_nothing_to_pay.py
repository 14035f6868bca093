"""Returning 0 when compiling is free gives these wrong answers. The answer must be at least 1, because compiling then
pays from the first call.
"""

from math import ceil


def break_even(compile_s, slow_s, fast_s):
    saved = slow_s - fast_s
    if saved < 0 or (saved == 0 and compile_s > 0):
        return None
    return ceil(compile_s / saved) if saved else 0
