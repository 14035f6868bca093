"""Counter, then a heap that gives out the pair with most occurrences until only single ones are left."""

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
