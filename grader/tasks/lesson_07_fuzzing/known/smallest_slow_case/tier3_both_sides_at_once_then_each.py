"""First reduces rows and columns by the same factor. Then reduces each of them alone.

Trade: The first reduction makes the case much smaller with few measurements. It works with 64 parts, so each side still
needs its own bisection.
"""

from math import ceil


def smallest_slow_case(f, fuzzer, measure):
    remembered = {}

    def seconds(rows, columns, step, transposed):
        key = rows, columns, step, transposed
        if key not in remembered:
            case = {"rows": rows, "columns": columns, "step": step, "transposed": transposed}
            remembered[key] = min(measure(f, case) for _ in range(2))
        return remembered[key]

    def slow(rows, columns, step, transposed=True):
        return seconds(rows, columns, step, transposed) > 3 * seconds(rows, columns, 1, False)

    def first_true(check, high):
        low = 1
        while low < high:
            middle = (low + high) // 2
            if check(middle):
                high = middle
            else:
                low = middle + 1
        return high

    while True:
        case = fuzzer()
        rows, columns = case["rows"], case["columns"]
        step = min(16, 1048576 // (rows * columns))
        if slow(rows, columns, step):
            break

    while True:
        # 64 parts of each side
        part = first_true(lambda p: slow(ceil(rows * p / 64), ceil(columns * p / 64), step), 64)
        rows, columns = ceil(rows * part / 64), ceil(columns * part / 64)
        # the longer side first, because it can be reduced most
        if rows >= columns:
            rows = first_true(lambda r: slow(r, columns, step), rows)
            columns = first_true(lambda c: slow(rows, c, step), columns)
        else:
            columns = first_true(lambda c: slow(rows, c, step), columns)
            rows = first_true(lambda r: slow(r, columns, step), rows)
        larger = min(16, 1048576 // (rows * columns))
        if larger == step:
            break
        step = larger

    step = first_true(lambda s: slow(rows, columns, s), step)
    return {
        "rows": rows,
        "columns": columns,
        "step": step,
        "transposed": not slow(rows, columns, step, False),
    }
