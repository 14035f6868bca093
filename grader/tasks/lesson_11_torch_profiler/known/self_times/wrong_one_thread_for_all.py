"""Treating all threads as one gives these wrong answers. Events of two threads may overlap freely, and an event of
another thread is not a caller. Group by both pid and tid.
"""

from wrong_neighbours_within import rows


def self_times(trace):
    return rows(trace, thread=lambda event: 0)
