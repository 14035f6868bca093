"""Passes zip to Counter."""

from collections import Counter


def pairs(trace):
    counts = Counter(zip(trace, trace[1:]))
    rows = sorted([(-count, *pair) for pair, count in counts.items() if count > 1])
    return [[first, second, -count] for count, first, second in rows]
