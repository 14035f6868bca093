"""Calls f, g and f again for each case, to see whether g changed the tensors. Stops at the first wrong case."""

import math

EPS = {"float32": 2.0**-23, "float64": 2.0**-52}


def number_is_right(got, value, magnitude, case):
    if case["dtype"] == "int64":
        return got == value
    if math.isnan(value):
        return math.isnan(got)
    if math.isinf(value):
        return got == value
    return abs(got - value) <= (case["n"] + 1) * EPS[case["dtype"]] * magnitude


def same(xs, ys):
    return len(xs) == len(ys) and all(x == y or (x != x and y != y) for x, y in zip(xs, ys))


def agrees(f, g, cases):
    for case in cases:
        values, magnitudes = f(case)
        values, magnitudes = list(values), list(magnitudes)
        answer = g(case)
        if len(answer) != len(values):
            return False
        for got, value, magnitude in zip(answer, values, magnitudes):
            if not number_is_right(got, value, magnitude, case):
                return False
        values_after, magnitudes_after = f(case)
        if not same(values, values_after) or not same(magnitudes, magnitudes_after):
            return False
    return True
