"""Compares f and g on every case first. If all are right, a second pass calls f again to find changed tensors.

Trade: It separates two questions: are the values right, and did g change the tensors? A right g needs two calls of f
per case.
"""

import math


def agrees(f, g, cases):
    remembered = []
    for case in cases:
        values, magnitudes = f(case)
        remembered.append((tuple(values), tuple(magnitudes)))
        if not answer_fits(case, g(case), values, magnitudes):
            return False

    for case, (values, magnitudes) in zip(cases, remembered):
        now_values, now_magnitudes = f(case)
        if not unchanged(values, now_values) or not unchanged(magnitudes, now_magnitudes):
            return False
    return True


def answer_fits(case, answer, values, magnitudes):
    if len(answer) != len(values):
        return False
    exact = case["dtype"] == "int64"
    eps = 2.0**-23 if case["dtype"] == "float32" else 2.0**-52
    for x, v, m in zip(answer, values, magnitudes):
        if exact:
            ok = x == v
        elif math.isnan(v):
            ok = math.isnan(x)
        elif math.isinf(v):
            ok = x == v
        else:
            ok = math.isfinite(x) and abs(x - v) <= (case["n"] + 1) * eps * m
        if not ok:
            return False
    return True


def unchanged(before, after):
    if len(before) != len(after):
        return False
    for b, a in zip(before, after):
        if b != a and not (math.isnan(b) and math.isnan(a)):
            return False
    return True
