"""Reducing only rows and columns gives these wrong answers. The step and the transposition are still those of the drawn
case. Reduce them too, as long as the case stays slow.
"""

from baseline import is_slow
from tier2_measures_six_times import bisected
from wrong_first_slow_draw import first_slow


def smallest_slow_case(f, fuzzer, measure):
    def slow(case):
        return is_slow(f, measure, case, 3)

    return bisected(first_slow(fuzzer, slow), slow, ("rows", "columns"))
