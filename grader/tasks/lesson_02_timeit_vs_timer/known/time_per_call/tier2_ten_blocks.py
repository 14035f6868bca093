"""Times ten blocks of each size."""

from baseline import smallest_of


def time_per_call(fn, clock):
    return smallest_of(fn, clock, 10)
