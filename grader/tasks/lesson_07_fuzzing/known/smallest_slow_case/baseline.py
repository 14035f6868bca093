"""Measures sixty drawn cases, and reduces the largest slow case step by step. Measures everything four times."""


def smallest_slow_case(f, fuzzer, measure):
    def slow(case):
        twin = {**case, "step": 1, "transposed": False}
        return min(measure(f, case) for _ in range(4)) >= 3 * min(measure(f, twin) for _ in range(4))

    found = []
    while not found:
        found = [case for case in (fuzzer() for _ in range(60)) if slow(case)]
    case = max(found, key=lambda case: case["rows"] + case["columns"])
    for part in ("rows", "columns", "step"):
        for share in (16, 4096):
            while case[part] > 1 and slow({**case, part: smaller(case[part], share)}):
                case = {**case, part: smaller(case[part], share)}
    if case["transposed"] and slow({**case, "transposed": False}):
        case = {**case, "transposed": False}
    return case


def smaller(number, share):
    """Return `number` minus number / `share`, but minus at least 1."""
    return number - max(1, number // share)
