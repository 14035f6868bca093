"""Calls f and g once per case, and stops at the first difference."""

from baseline import EPS, close


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
