"""Takes the median of three measurements. Bisects all parts repeatedly, until nothing changes."""

from statistics import median

LIMIT = 1048576


def smallest_slow_case(f, fuzzer, measure):
    def time_of(case):
        return median(measure(f, case) for _ in range(3))

    def is_slow(rows, columns, step, transposed):
        case = {"rows": rows, "columns": columns, "step": step, "transposed": transposed}
        plain = {"rows": rows, "columns": columns, "step": 1, "transposed": False}
        return time_of(case) / time_of(plain) > 3

    def search(check, high):
        low = 0
        while high - low > 1:
            mid = (low + high) // 2
            if check(mid):
                high = mid
            else:
                low = mid
        return high

    while True:
        c = fuzzer()
        rows, columns, step, transposed = c["rows"], c["columns"], c["step"], c["transposed"]
        if is_slow(rows, columns, step, transposed):
            break

    transposed = True  # the case stays slow
    while True:
        old = rows, columns, step
        rows = search(lambda r: is_slow(r, columns, step, transposed), rows)
        columns = search(lambda c: is_slow(rows, c, step, transposed), columns)
        # A case with a larger step is slow too, and may need fewer elements.
        step = min(16, LIMIT // (rows * columns))
        if (rows, columns, step) == old:
            break
    step = search(lambda s: is_slow(rows, columns, s, transposed), step)
    transposed = not is_slow(rows, columns, step, False)
    return {"rows": rows, "columns": columns, "step": step, "transposed": transposed}
