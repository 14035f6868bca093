"""Keeps totals in a dict, then sorts them with a heap of (minus total, name).

Trade: A heap is useful if you need only the largest functions. For all functions, one sort is simpler.
"""

import heapq


def by_function(lines):
    totals = {}
    for line in lines:
        space = line.index(" ")
        name = line[space + 1 :]
        totals[name] = totals.get(name, 0) + int(line[:space])

    heap = [(-total, name) for name, total in totals.items() if total]
    heapq.heapify(heap)
    rows = []
    while heap:
        minus, name = heapq.heappop(heap)
        rows.append([name, -minus])
    return rows
