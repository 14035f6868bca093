"""Keeping pairs that occur only once gives these wrong answers. A long trace has many such pairs, and they are too rare
to merge into one opcode. Leave them out.
"""

from collections import Counter


def pairs(trace):
    counts = Counter(zip(trace, trace[1:]))
    rows = sorted((-count, *pair) for pair, count in counts.items())
    return [[first, second, -count] for count, first, second in rows]
