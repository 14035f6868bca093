"""Adding one call when the totals are equal gives these wrong answers. If the totals are equal after a number of calls,
compiling has paid already, so this number is the answer.
"""


def break_even(compile_s, slow_s, fast_s):
    saved = slow_s - fast_s
    if saved < 0 or (saved == 0 and compile_s > 0):
        return None
    return int(compile_s // saved) + 1 if saved else 1
