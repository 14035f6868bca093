"""Measures the plain counterpart of a shape once, and keeps it in a dict. Measures every case that looks slow a second
time.

Trade: It assumes nothing about the times of plain cases. It measures a plain case for each new shape, and the reference
solution computes this time.
"""


def smallest_slow_case(f, fuzzer, measure):
    twins = {}

    def twin_time(rows, columns):
        key = rows, columns
        if key not in twins:
            twin = {"rows": rows, "columns": columns, "step": 1, "transposed": False}
            twins[key] = min(measure(f, twin), measure(f, twin))
        return twins[key]

    def slow(rows, columns, step, transposed):
        if step == 1 and not transposed:
            return False  # this case is a plain case, so it is its own plain counterpart
        limit = 3 * twin_time(rows, columns)
        case = {"rows": rows, "columns": columns, "step": step, "transposed": transposed}
        return measure(f, case) >= limit and measure(f, case) >= limit

    def bisect(low, high, check):
        while low < high:
            mid = (low + high) // 2
            if check(mid):
                high = mid
            else:
                low = mid + 1
        return low

    while True:
        drawn = fuzzer()
        r, c, s = drawn["rows"], drawn["columns"], drawn["step"]
        s = min(16, 1048576 // (r * c))
        if slow(r, c, s, True):
            break

    while True:
        r = bisect(1, r, lambda v: slow(v, c, s, True))
        c = bisect(1, c, lambda v: slow(r, v, s, True))
        wider = min(16, 1048576 // (r * c))
        if wider <= s:
            break
        s = wider

    # The shape is final, so its plain counterpart needs no more measurements.
    s = bisect(1, s, lambda v: slow(r, c, v, True))
    t = not slow(r, c, s, False)
    return {"rows": r, "columns": c, "step": s, "transposed": t}
