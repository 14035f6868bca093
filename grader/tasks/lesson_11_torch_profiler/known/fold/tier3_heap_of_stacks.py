"""Merges equal stacks, and takes them from a heap in order. A box gets its width when it closes.

Trade: A heap gives the first stacks without sorting all stacks. If you need all stacks, one sort is simpler.
"""

import heapq


def fold(stacks):
    sums = {}
    for frames, us in stacks:
        if frames:
            key = tuple(frames)
            sums[key] = sums.get(key, 0) + us
    heap = list(sums.items())
    heapq.heapify(heap)

    rows = []
    opened = []
    before = ()
    now = 0
    while heap:
        frames, us = heapq.heappop(heap)
        common = 0
        for one, other in zip(before, frames):
            if one != other:
                break
            common += 1
        while len(opened) > common:
            box = opened.pop()
            box[3] = now - box[2]
        for depth in range(common, len(frames)):
            box = [depth, frames[depth], now, None]
            opened.append(box)
            rows.append(box)
        before = frames
        now += us
    for box in opened:
        box[3] = now - box[2]
    return rows
