"""Bisects from the drawn case that is most likely slow, and measures everything six times."""

from baseline import is_slow, untransposed


def smallest_slow_case(f, fuzzer, measure):
    def slow(case):
        return is_slow(f, measure, case, 6)

    drawn = [fuzzer() for _ in range(200)]
    drawn.sort(key=lambda case: (case["transposed"] and case["step"] > 1, case["rows"] * case["columns"]))
    case = drawn.pop()
    while not slow(case):
        case = drawn.pop()
    return untransposed(bisected(case, slow, ("rows", "columns", "step")), slow)


def bisected(case, slow, parts):
    for part in parts:
        fast, known = 0, case[part]
        while known - fast > 1:
            middle = (fast + known) // 2
            if slow({**case, part: middle}):
                known = middle
            else:
                fast = middle
        case = {**case, part: known}
    return case
