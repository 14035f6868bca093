"""Groups the pairs by their count, and goes through the counts from the largest to the smallest.

Trade: It sorts only pairs with equal counts. It needs a second dict.
"""

from collections import Counter, defaultdict
from itertools import pairwise


def pairs(trace):
    pairs_of = defaultdict(list)
    for pair, times in Counter(pairwise(trace)).items():
        pairs_of[times].append(pair)
    pairs_of.pop(1, None)
    return [
        [first, second, times] for times in sorted(pairs_of, reverse=True) for first, second in sorted(pairs_of[times])
    ]
