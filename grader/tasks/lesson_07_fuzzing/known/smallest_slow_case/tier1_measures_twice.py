"""Reduces like the baseline, but measures everything twice instead of four times."""

from baseline import is_slow, stepwise


def smallest_slow_case(f, fuzzer, measure):
    return stepwise(fuzzer, lambda case: is_slow(f, measure, case, 2))
