"""This halves each side while the case stays slow, and stops one halving too late to see the rest: up to half of each
side is still to go."""


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
