"""The trace was cut into pairs, one behind the other. But pairs overlap: each opcode is the second of one and the first of
the next, and half of them were never looked at."""

from collections import Counter


def pairs(trace):
    counts = Counter(zip(trace[::2], trace[1::2]))
    rows = sorted((-count, *pair) for pair, count in counts.items() if count > 1)
    return [[first, second, -count] for count, first, second in rows]
