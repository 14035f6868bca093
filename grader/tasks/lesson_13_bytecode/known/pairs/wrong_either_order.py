"""Counting a pair together with its reverse gives these wrong answers. The order matters: LOAD_FAST and then STORE_FAST
is not the same pair as STORE_FAST and then LOAD_FAST.
"""

from collections import Counter


def pairs(trace):
    counts = Counter(tuple(sorted(pair)) for pair in zip(trace, trace[1:]))
    rows = sorted((-count, *pair) for pair, count in counts.items() if count > 1)
    return [[first, second, -count] for count, first, second in rows]
