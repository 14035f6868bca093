"""Measures sixty drawn cases, and reduces the largest slow case step by step. Measures everything four times."""


def smallest_slow_case(f, fuzzer, measure):
    return stepwise(fuzzer, lambda case: is_slow(f, measure, case, 4))


def is_slow(f, measure, case, times):
    twin = {**case, "step": 1, "transposed": False}
    return min(measure(f, case) for _ in range(times)) >= 3 * min(measure(f, twin) for _ in range(times))


def stepwise(fuzzer, slow):
    found = []
    while not found:
        found = [case for case in (fuzzer() for _ in range(60)) if slow(case)]
    case = max(found, key=lambda case: case["rows"] + case["columns"])
    for part in ("rows", "columns", "step"):
        for share in (16, 4096):
            while case[part] > 1 and slow({**case, part: smaller(case[part], share)}):
                case = {**case, part: smaller(case[part], share)}
    return untransposed(case, slow)


def smaller(number, share):
    """Return `number` minus number / `share`, but minus at least 1."""
    return number - max(1, number // share)


def untransposed(case, slow):
    if case["transposed"] and slow({**case, "transposed": False}):
        return {**case, "transposed": False}
    return case
