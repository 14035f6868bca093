"""Draws until a case is slow. Bisects rows, columns and step until nothing changes, and tries without transposing
last. Takes the smaller of two measurements."""


def smallest_slow_case(f, fuzzer, measure):
    def seconds(case):
        return min(measure(f, case), measure(f, case))  # two measurements in a row are never both disturbed

    def slow(case):
        twin = {"rows": case["rows"], "columns": case["columns"], "step": 1, "transposed": False}
        return seconds(case) >= 3 * seconds(twin)

    def least(case, key):
        lo, hi = 1, case[key]
        while lo < hi:
            middle = (lo + hi) // 2
            if slow({**case, key: middle}):
                hi = middle
            else:
                lo = middle + 1
        return {**case, key: hi}

    case = fuzzer()
    while not slow(case):
        case = fuzzer()

    # The number of elements counts most. With the largest step and transposed, fewer elements may be slow.
    while True:
        before = case
        room = 1048576 // (case["rows"] * case["columns"])
        case = {**case, "step": min(16, room), "transposed": True}
        case = least(case, "rows")
        case = least(case, "columns")
        if case == before:
            break

    case = least(case, "step")
    if slow({**case, "transposed": False}):
        case = {**case, "transposed": False}
    return case
