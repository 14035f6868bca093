"""Uses a Counter, then takes the most frequent pair from a heap until only pairs that occur once are left.

Trade: It stops at the first pair that occurs once. Each row needs a call of heappop.
"""

import heapq
from collections import Counter
from itertools import pairwise


def pairs(trace):
    heap = [(-times, *pair) for pair, times in Counter(pairwise(trace)).items()]
    heapq.heapify(heap)
    rows = []
    while heap and heap[0][0] < -1:
        minus, first, second = heapq.heappop(heap)
        rows.append([first, second, -minus])
    return rows
