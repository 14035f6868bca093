"""Rounding the number of calls down gives these wrong answers. After this number of calls compiling has not paid yet.
It pays after one more call.
"""


def break_even(compile_s, slow_s, fast_s):
    saved = slow_s - fast_s
    if saved < 0 or (saved == 0 and compile_s > 0):
        return None
    return max(1, int(compile_s // saved)) if saved else 1
