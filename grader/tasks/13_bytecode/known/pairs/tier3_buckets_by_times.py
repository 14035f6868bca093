"""Turn the counts round: the pairs that occur n times, n from the largest down."""

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
