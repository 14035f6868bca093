"""A comparison for equality gives these wrong answers. A sum in a different order rounds differently, and is still
right. Allow a rounding error of (n + 1) · eps · magnitude.
"""

import math

from tier2_all_cases_first import all_right


def agrees(f, g, cases):
    return all_right([(case, g(case), *f(case)) for case in cases], within)


def within(got, value, magnitude, allowed):
    return got == value or (math.isnan(got) and math.isnan(value))
