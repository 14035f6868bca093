"""Calls g once per case, and f again in each row."""

from baseline import EPS, close


def agrees(f, g, cases):
    verdicts = []
    for case in cases:
        got = g(case)
        values, _ = f(case)
        verdicts.append(len(got) == len(values))
        for row in range(len(values) if verdicts[-1] else 0):
            values, magnitudes = f(case)
            allowed = (case["n"] + 1) * EPS[case["dtype"]]
            verdicts.append(close(got[row], values[row], magnitudes[row], allowed))
    return all(verdicts)
