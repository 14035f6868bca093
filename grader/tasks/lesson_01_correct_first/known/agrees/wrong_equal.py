"""A comparison for equality gives these wrong answers. A sum in a different order rounds differently, and is still
right. Allow a rounding error of (n + 1) · eps · magnitude.
"""

import math

EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "int64": 0.0}


def agrees(f, g, cases):
    for case in cases:
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
    return got == value or (math.isnan(got) and math.isnan(value))
