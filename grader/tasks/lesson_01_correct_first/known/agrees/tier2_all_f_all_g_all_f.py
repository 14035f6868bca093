"""Calls f on all cases, g on all cases, and f on all cases again. Compares at the end."""

import math


def agrees(f, g, cases):
    before = [tuple(map(list, f(case))) for case in cases]
    answers = [list(g(case)) for case in cases]
    after = [tuple(map(list, f(case))) for case in cases]

    def key(x):
        return "nan" if math.isnan(x) else x

    for case, (values, magnitudes), answer, (values2, magnitudes2) in zip(cases, before, answers, after):
        if [key(x) for x in values] != [key(x) for x in values2]:
            return False
        if [key(x) for x in magnitudes] != [key(x) for x in magnitudes2]:
            return False
        if len(answer) != case["rows"] or len(answer) != len(values):
            return False
        eps = {"float32": 2**-23, "float64": 2**-52, "int64": 0}[case["dtype"]]
        for x, v, m in zip(answer, values, magnitudes):
            if eps == 0 or not math.isfinite(v):
                if key(x) != key(v):
                    return False
            elif not abs(x - v) <= (case["n"] + 1) * eps * m:
                return False
    return True
