"""This calls f before g. A g that spoils its inputs spoils them for whoever comes next: call g first, and f sees what
is left."""

import math

EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "int64": 0.0}


def agrees(f, g, cases):
    for case in cases:
        values, magnitudes = f(case)
        got = g(case)
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
