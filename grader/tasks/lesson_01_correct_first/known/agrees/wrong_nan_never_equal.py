"""Rejecting a NaN of g where f has NaN too gives these wrong answers. NaN is not equal to anything, not even to itself,
so test it with math.isnan. Compare infinities with ==, because their difference is NaN.
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
    return abs(got - value) <= allowed * magnitude
