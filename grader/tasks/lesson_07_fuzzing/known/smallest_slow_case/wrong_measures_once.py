"""Measuring each case once gives these wrong answers. A disturbed measurement takes several times as long. Then a fast
case looks slow, or a slow case looks fast compared with its plain counterpart. Two measurements in a row are never both
disturbed, so take the smaller of two.
"""

from baseline import is_slow, untransposed
from tier2_measures_six_times import bisected
from wrong_first_slow_draw import first_slow


def smallest_slow_case(f, fuzzer, measure):
    def slow(case):
        return is_slow(f, measure, case, 1)

    return untransposed(bisected(first_slow(fuzzer, slow), slow, ("rows", "columns", "step")), slow)
