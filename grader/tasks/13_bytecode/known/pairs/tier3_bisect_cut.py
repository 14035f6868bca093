"""Counter, sorted by minus times in tuples, and bisect to find where the pairs that occur once begin."""

from bisect import bisect_left
from collections import Counter


def pairs(trace):
    counter = Counter(zip(trace, trace[1:]))
    rows = sorted([(-times, first, second) for (first, second), times in counter.items()])
    stop = bisect_left(rows, (-1,))
    return [[first, second, -minus] for minus, first, second in rows[:stop]]
