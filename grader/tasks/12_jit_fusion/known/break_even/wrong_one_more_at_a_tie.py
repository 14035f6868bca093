"""One was added to the quotient, so that a tie asks for a call too many: equal counts as paid."""


def break_even(compile_s, slow_s, fast_s):
    saved = slow_s - fast_s
    if saved < 0 or (saved == 0 and compile_s > 0):
        return None
    return int(compile_s // saved) + 1 if saved else 1
