"""Passes zip of the list and the list shifted by one to Counter. Sorts by pair; most_common keeps this order for equal
counts.

Trade: Counter does the second sort. It also sorts the pairs that occur only once.
"""

from collections import Counter


def pairs(trace):
    counts = Counter(zip(trace, trace[1:]))
    ordered = Counter(dict(sorted(counts.items()))).most_common()
    return [[*pair, times] for pair, times in ordered if times > 1]
