"""Sorts the cases by size. Calls f, g and f again, compares, and stops at the first wrong case.

Trade: It finds a mistake in a small case, which is easy to debug. It calls f twice per case, and the reference solution
only once.
"""

import math


def agrees(f, g, cases):
    for case in sorted(cases, key=lambda c: c["rows"] * c["n"]):
        if not right_on(f, g, case):
            return False
    return True


def right_on(f, g, case):
    n, dtype = case["n"], case["dtype"]
    first = f(case)
    values, magnitudes = [*first[0]], [*first[1]]
    out = g(case)
    if len(out) != len(values):
        return False
    for o, v, m in zip(out, values, magnitudes):
        if dtype == "int64":
            if o != v:
                return False
            continue
        eps = 2.0**-23 if dtype == "float32" else 2.0**-52
        if math.isnan(v):
            if not math.isnan(o):
                return False
        elif math.isinf(v):
            if o != v:
                return False
        elif not abs(o - v) <= (n + 1) * eps * m:  # "not <=" so that a NaN of g counts as wrong
            return False
    second = f(case)
    for old, new in ((values, second[0]), (magnitudes, second[1])):
        if len(old) != len(new):
            return False
        for x, y in zip(old, new):
            if not (x == y or (math.isnan(x) and math.isnan(y))):
                return False
    return True
