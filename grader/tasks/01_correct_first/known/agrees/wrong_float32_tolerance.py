"""This allows every dtype what float32 needs. It accepts a float64 answer with seven digits, and whole numbers that
are off: eps is 2⁻⁵² in float64 and 0 in int64."""

import math


def agrees(f, g, cases):
    for case in cases:
        got = g(case)
        values, magnitudes = f(case)
        if len(got) != len(values):
            return False
        allowed = (case["n"] + 1) * 2.0**-23
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
