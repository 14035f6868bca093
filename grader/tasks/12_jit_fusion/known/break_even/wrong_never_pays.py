"""Where a compiled call is no faster, the quotient is negative or has no meaning, and no number of calls pays: that is
None."""

from math import ceil


def break_even(compile_s, slow_s, fast_s):
    if slow_s == fast_s:
        return 1
    return max(1, ceil(abs(compile_s / (slow_s - fast_s))))
