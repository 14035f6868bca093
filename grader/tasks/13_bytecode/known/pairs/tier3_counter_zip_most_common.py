"""Counter over zip with the list shifted by one, sorted by pair, and most_common, which keeps that order."""

from collections import Counter


def pairs(trace):
    counts = Counter(zip(trace, trace[1:]))
    ordered = Counter(dict(sorted(counts.items()))).most_common()
    return [[*pair, times] for pair, times in ordered if times > 1]
