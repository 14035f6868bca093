"""Calls f and g again in every row: right and wasteful."""

import math

EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "int64": 0.0}


def agrees(f, g, cases):
    verdicts = []
    for case in cases:
        allowed = (case["n"] + 1) * EPS[case["dtype"]]
        verdicts.append(len(g(case)) == len(f(case)[0]) == case["rows"])
        for row in range(case["rows"] if verdicts[-1] else 0):
            got = g(case)[row]
            value = f(case)[0][row]
            magnitude = f(case)[1][row]
            verdicts.append(close(got, value, magnitude, allowed))
    return all(verdicts)


def close(got, value, magnitude, allowed):
    if math.isnan(value):
        return math.isnan(got)
    if math.isinf(value):
        return got == value
    return abs(got - value) <= allowed * magnitude
