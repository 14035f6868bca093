"""Times four blocks of each size."""

from baseline import smallest_of


def time_async(launch, synchronize, clock):
    return smallest_of(launch, synchronize, clock, 4)
