"""Calling f before g gives these wrong answers. You then do not notice that a g changes its inputs. Call g first, so
that f computes from the changed tensors.
"""

from baseline import EPS, close


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
