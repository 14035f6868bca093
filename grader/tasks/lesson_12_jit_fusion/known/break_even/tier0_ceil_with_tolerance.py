"""Rounds the compile time divided by the saving per call up. If it is within rounding error of a whole number, returns
this number.
"""

import math


def break_even(compile_s, slow_s, fast_s):
    if compile_s == 0 and fast_s <= slow_s:
        return 1
    if fast_s >= slow_s:
        return None
    n = compile_s / (slow_s - fast_s)
    nearest = round(n)
    if math.isclose(n, nearest, rel_tol=1e-12):
        n = nearest
    else:
        n = math.ceil(n)
    return max(n, 1)
