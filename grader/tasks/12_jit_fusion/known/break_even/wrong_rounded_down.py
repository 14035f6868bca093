"""The quotient was rounded down: after so many whole calls, compiling has not yet been earned back. Only the next call
does that."""


def break_even(compile_s, slow_s, fast_s):
    saved = slow_s - fast_s
    if saved < 0 or (saved == 0 and compile_s > 0):
        return None
    return max(1, int(compile_s // saved)) if saved else 1
