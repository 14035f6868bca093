"""Passes a generator expression to Counter."""

from collections import Counter


def pairs(trace):
    counts = Counter(pair for pair in zip(trace, trace[1:]))
    rows = [[first, second, count] for (first, second), count in counts.items() if count > 1]
    return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))
