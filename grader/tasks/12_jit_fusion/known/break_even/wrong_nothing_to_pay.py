"""Without a price the quotient is 0, but the question is for a number of calls, and the first call is the first that can
be compiled: at least 1."""

from math import ceil


def break_even(compile_s, slow_s, fast_s):
    saved = slow_s - fast_s
    if saved < 0 or (saved == 0 and compile_s > 0):
        return None
    return ceil(compile_s / saved) if saved else 0
