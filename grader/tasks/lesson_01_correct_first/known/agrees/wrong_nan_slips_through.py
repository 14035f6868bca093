"""Looking for differences above the tolerance gives these wrong answers. A NaN is never above anything, so it passes.
Test whether the difference is within the tolerance, and treat NaN and infinity separately.
"""

from tier2_all_cases_first import all_right


def agrees(f, g, cases):
    return all_right([(case, g(case), *f(case)) for case in cases], within)


def within(got, value, magnitude, allowed):
    return not abs(got - value) > allowed * magnitude
