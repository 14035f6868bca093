"""Begins with the largest drawn case that is transposed with a step above 1, and bisects. Measures a case again only if
it looks slow.
"""


def smallest_slow_case(f, fuzzer, measure):
    def slow(case):
        twin = {**case, "step": 1, "transposed": False}
        case_s, twin_s = measure(f, case), measure(f, twin)
        if case_s >= 3 * twin_s:
            return min(case_s, measure(f, case)) >= 3 * twin_s
        return case_s >= 3 * min(twin_s, measure(f, twin))

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
