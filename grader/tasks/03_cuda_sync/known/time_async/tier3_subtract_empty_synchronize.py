"""Measures what an empty synchronize costs and subtracts it, so that blocks of 4 ms will do; goes on until 40 ms of blocks are measured, the smallest counts."""

import math


def time_async(launch, synchronize, clock):
    launch()
    synchronize()

    empty = math.inf
    for _ in range(3):
        start = clock()
        synchronize()
        empty = min(empty, clock() - start)

    def block(n):
        start = clock()
        for _ in range(n):
            launch()
        synchronize()
        return clock() - start - empty

    n = 1
    best, spent = math.inf, 0.0
    while spent < 0.040 or best == math.inf:
        t = block(n)
        if t < 3e-3:
            n = math.ceil(n * min(50, 4e-3 / max(t, 1e-6)))
            best, spent = math.inf, 0.0
            continue
        best = min(best, t)
        spent += t
    return best / n
