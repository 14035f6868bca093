"""Bisects from the drawn case that is most likely slow, and measures everything six times."""


def smallest_slow_case(f, fuzzer, measure):
    def slow(case):
        twin = {**case, "step": 1, "transposed": False}
        return min(measure(f, case) for _ in range(6)) >= 3 * min(measure(f, twin) for _ in range(6))

    drawn = [fuzzer() for _ in range(200)]
    drawn.sort(key=lambda case: (case["transposed"] and case["step"] > 1, case["rows"] * case["columns"]))
    case = drawn.pop()
    while not slow(case):
        case = drawn.pop()
    for part in ("rows", "columns", "step"):
        fast, known = 0, case[part]
        while known - fast > 1:
            middle = (fast + known) // 2
            if slow({**case, part: middle}):
                known = middle
            else:
                fast = middle
        case = {**case, part: known}
    if case["transposed"] and slow({**case, "transposed": False}):
        case = {**case, "transposed": False}
    return case
