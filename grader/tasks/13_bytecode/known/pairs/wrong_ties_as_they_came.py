"""Pairs of the same number came out in the order in which they were met: most_common keeps it. Two traces of one program can
be compared row by row only when equal numbers have an order too, that of the names."""

from collections import Counter


def pairs(trace):
    counts = Counter(zip(trace, trace[1:]))
    return [[*pair, count] for pair, count in counts.most_common() if count > 1]
