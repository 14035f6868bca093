"""This looks at a few cases and trusts g with the others. The one that it is wrong on may be the last."""

import math

EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "int64": 0.0}


def agrees(f, g, cases):
    for case in cases[:12]:
        got = g(case)
        values, magnitudes = f(case)
        if len(got) != len(values):
            return False
        allowed = (case["n"] + 1) * EPS[case["dtype"]]
        for row in zip(got, values, magnitudes):
            if not close(*row, allowed):
                return False
    return True


def close(got, value, magnitude, allowed):
    if math.isnan(value):
        return math.isnan(got)
    if math.isinf(value):
        return got == value
    return abs(got - value) <= allowed * magnitude
