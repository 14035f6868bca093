"""Computes a block size from the time of two calls, and returns the shorter of two such blocks. Repeats both blocks if
they are too short. Two blocks are enough because a second interruption comes long after the first.
"""

import math

from baseline import block, smallest_step

STEPS = 220


def time_per_call(fn, clock):
    step = smallest_step(clock)
    block(fn, clock, 3)
    calls, best = 2, block(fn, clock, 2)
    while True:
        calls = max(calls + 1, math.ceil(calls * STEPS * step / max(best, step)))
        best = min(block(fn, clock, calls) for _ in range(2))
        if best >= 200 * step:
            return best / calls
