"""The mean of five pairs decides. Five pairs scatter by more than half of the threshold, and a single wild one moves
their mean by more than all of it: ask for more, and for the sign of each rather than its size."""

import statistics


def is_slower(next_pair, threshold):
    pairs = [next_pair() for _ in range(5)]
    return statistics.fmean(b / a for a, b in pairs) > 1 + threshold / 2
