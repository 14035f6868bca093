"""Loops over zip, and counts in a dict with get."""


def pairs(trace):
    counts = {}
    for pair in zip(trace, trace[1:]):
        counts[pair] = counts.get(pair, 0) + 1
    rows = [[first, second, count] for (first, second), count in counts.items() if count > 1]
    return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))
