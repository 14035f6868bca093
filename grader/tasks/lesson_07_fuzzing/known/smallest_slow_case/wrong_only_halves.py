"""Halving each side while the case stays slow gives these wrong answers. When half of a side is no longer slow, the
smallest slow side may still be little more than this half. Continue with smaller steps, or bisect.
"""


def smallest_slow_case(f, fuzzer, measure):
    def slow(case):
        twin = {**case, "step": 1, "transposed": False}
        return min(measure(f, case) for _ in range(3)) >= 3 * min(measure(f, twin) for _ in range(3))

    case = fuzzer()
    while not slow(case):
        case = fuzzer()
    for part in ("rows", "columns", "step"):
        while case[part] > 1 and slow({**case, part: case[part] // 2}):
            case = {**case, part: case[part] // 2}
    if case["transposed"] and slow({**case, "transposed": False}):
        case = {**case, "transposed": False}
    return case
