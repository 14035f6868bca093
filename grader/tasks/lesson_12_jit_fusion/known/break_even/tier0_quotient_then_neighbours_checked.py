"""Starts from the compile time divided by the saving per call, and changes this number by single calls until compiling
just pays.

Trade: The test corrects rounding errors of the division. It corrects the number by at most ten calls.
"""

import math


def break_even(compile_s, slow_s, fast_s):
    def paid(n):
        return compile_s + n * fast_s <= n * slow_s

    if fast_s >= slow_s:
        return 1 if fast_s == slow_s and compile_s == 0 else None
    if paid(1):
        return 1
    n = max(1, math.ceil(compile_s / (slow_s - fast_s)))
    for _ in range(10):
        if n > 1 and paid(n - 1):
            n -= 1
        elif not paid(n):
            n += 1
        else:
            break
    return n
