"""Looking for differences above the tolerance gives these wrong answers. A NaN is never above anything, so it passes.
Test whether the difference is within the tolerance, and treat NaN and infinity separately.
"""

EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "int64": 0.0}


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


def close(got, value, magnitude, allowed):
    return not abs(got - value) > allowed * magnitude
