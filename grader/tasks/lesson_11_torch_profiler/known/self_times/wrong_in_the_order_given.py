"""Going through the events in the order of the list gives these wrong answers. In a trace, an event may come before its
outer event. Sort by beginnings. If two are equal, the longer event comes first.
"""

from wrong_neighbours_within import rows


def self_times(trace):
    return rows(trace, order=lambda event: 0)
