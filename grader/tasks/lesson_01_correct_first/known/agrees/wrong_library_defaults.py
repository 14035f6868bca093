"""The default tolerance of allclose gives these wrong answers: a hundred-thousandth of the value, in every dtype. That
is too much for float64 and for whole numbers. It is too little where large terms cancel. Allow (n + 1) · eps ·
magnitude, with eps by dtype.
"""

import math

from tier2_all_cases_first import all_right


def agrees(f, g, cases):
    return all_right([(case, g(case), *f(case)) for case in cases], within)


def within(got, value, magnitude, allowed):
    if math.isnan(value):
        return math.isnan(got)
    if math.isinf(value):
        return got == value
    return abs(got - value) <= 1e-8 + 1e-5 * abs(value)
