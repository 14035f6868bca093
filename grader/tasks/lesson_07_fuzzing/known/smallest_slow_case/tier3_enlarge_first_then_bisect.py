"""Makes each drawn case as large as allowed before measuring it. Then bisects each part on a logarithmic scale.

Trade: A large case is more often slow, so few draws are enough. On a real machine, large cases take longer to measure.
"""

import math

MOST = 1048576


def smallest_slow_case(f, fuzzer, measure):
    def is_slow(case):
        twin = dict(case, step=1, transposed=False)
        t = min(measure(f, twin), measure(f, twin))
        if measure(f, case) < 3 * t:
            return False
        return measure(f, case) >= 3 * t  # the first measurement may have been disturbed

    def enlarged(case):
        """Return a case at least as large: transposed, with the largest step, then as many rows and columns as fit."""
        case = dict(case, transposed=True)
        case["step"] = min(16, MOST // (case["rows"] * case["columns"]))
        grow = math.sqrt(MOST / (case["rows"] * case["columns"] * case["step"]))
        case["rows"] = min(4096, max(case["rows"], int(case["rows"] * grow)))
        case["columns"] = min(4096, MOST // (case["rows"] * case["step"]))
        return case

    def shrink(case, key):
        low, high = 0, case[key]  # low is not slow, and high is slow
        while high - low > 1:
            if low == 0:
                middle = int(math.sqrt(high))
            else:
                middle = round(math.sqrt(low * high))
            middle = min(max(middle, low + 1), high - 1)
            if is_slow(dict(case, **{key: middle})):
                high = middle
            else:
                low = middle
        return dict(case, **{key: high})

    case = enlarged(fuzzer())
    while not is_slow(case):
        case = enlarged(fuzzer())

    while True:
        case = shrink(case, "rows")
        case = shrink(case, "columns")
        step = min(16, MOST // (case["rows"] * case["columns"]))
        if step == case["step"]:
            break
        case["step"] = step
    case = shrink(case, "step")
    plain = dict(case, transposed=False)
    return plain if is_slow(plain) else case
