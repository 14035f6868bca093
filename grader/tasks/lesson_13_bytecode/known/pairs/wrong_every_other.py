"""Cutting the trace into pairs without overlap gives these wrong answers. Pairs overlap: each opcode except the first
and the last is in two pairs.
"""

from collections import Counter


def pairs(trace):
    counts = Counter(zip(trace[::2], trace[1::2]))
    rows = sorted((-count, *pair) for pair, count in counts.items() if count > 1)
    return [[first, second, -count] for count, first, second in rows]
