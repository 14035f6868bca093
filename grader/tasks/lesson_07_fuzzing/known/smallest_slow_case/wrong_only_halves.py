"""Halving each side while the case stays slow gives these wrong answers. When half of a side is no longer slow, the
smallest slow side may still be little more than this half. Continue with smaller steps, or bisect.
"""

from baseline import is_slow, untransposed
from wrong_first_slow_draw import first_slow


def smallest_slow_case(f, fuzzer, measure):
    def slow(case):
        return is_slow(f, measure, case, 3)

    case = first_slow(fuzzer, slow)
    for part in ("rows", "columns", "step"):
        while case[part] > 1 and slow({**case, part: case[part] // 2}):
            case = {**case, part: case[part] // 2}
    return untransposed(case, slow)
