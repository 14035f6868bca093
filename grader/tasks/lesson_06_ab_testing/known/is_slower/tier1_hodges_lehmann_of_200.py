"""Measures 200 pairs. Compares the Hodges–Lehmann estimate, which is the median of all pairwise means, with 0.586 times
the slowdown.
"""

from itertools import combinations_with_replacement
from math import log
from statistics import median


def is_slower(next_pair, threshold):
    values = []
    for _ in range(200):
        seconds_a, seconds_b = next_pair()
        values.append(log(seconds_b / seconds_a))
    shift = median((x + y) / 2 for x, y in combinations_with_replacement(values, 2))
    return shift > 0.586 * log(1 + threshold)
