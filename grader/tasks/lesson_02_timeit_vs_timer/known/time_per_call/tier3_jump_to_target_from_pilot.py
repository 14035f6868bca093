"""Times two short blocks of 10 clock steps, and computes from the smaller one the block size for 250 steps. Returns the
smallest of four such blocks.

Trade: It skips most block sizes. If both pilot blocks are disturbed, the next blocks are too short, and it must time
four more.
"""

import math

from baseline import block, smallest_step


def time_per_call(fn, clock):
    step = min(smallest_step(clock) for _ in range(25))
    block(fn, clock, 3)

    n = 1
    pilot = min(block(fn, clock, n), block(fn, clock, n))
    while pilot < 10 * step:
        n *= 2
        pilot = min(block(fn, clock, n), block(fn, clock, n))

    target = 250 * step
    n = max(1, math.ceil(n * target / pilot * 1.1))
    best = min(block(fn, clock, n) for _ in range(4))
    while best < target:
        n = math.ceil(n * 1.2 * target / max(best, step))
        best = min(block(fn, clock, n) for _ in range(4))
    return best / n
