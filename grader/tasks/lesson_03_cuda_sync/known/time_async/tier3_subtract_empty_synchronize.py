"""Measures an empty synchronize and subtracts it, so that blocks of 4 ms are long enough. Times blocks until they last
40 ms together, and returns the smallest.

Trade: Shorter blocks are enough. A wrong time for the empty wait shifts every result.
"""

import math

from baseline import block


def time_async(launch, synchronize, clock):
    launch()
    synchronize()

    empty = math.inf
    for _ in range(3):
        empty = min(empty, block(launch, synchronize, clock, 0))

    n = 1
    best, spent = math.inf, 0.0
    while spent < 0.040 or best == math.inf:
        t = block(launch, synchronize, clock, n) - empty
        if t < 3e-3:
            n = math.ceil(n * min(50, 4e-3 / max(t, 1e-6)))
            best, spent = math.inf, 0.0
            continue
        best = min(best, t)
        spent += t
    return best / n
