"""Pairs that occur only once are listed too. In a long trace there are many of them, and none is worth an opcode of its
own: leave them out."""

from collections import Counter


def pairs(trace):
    counts = Counter(zip(trace, trace[1:]))
    rows = sorted((-count, *pair) for pair, count in counts.items())
    return [[first, second, -count] for count, first, second in rows]
