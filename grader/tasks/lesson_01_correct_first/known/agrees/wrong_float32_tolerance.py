"""Using the tolerance of float32 for every dtype gives these wrong answers. It accepts a float64 result with only seven
right digits, and wrong whole numbers. eps is 2⁻⁵² in float64 and 0 in int64.
"""

from baseline import close


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
