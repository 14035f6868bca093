"""Choosing the number of calls by one block of each size gives these wrong answers. An interruption makes a short block
look long enough for the clock. Time each size several times, and let the shortest block decide.
"""

from baseline import block, smallest_step


def time_per_call(fn, clock):
    step = smallest_step(clock)
    for _ in range(3):
        fn()
    n = 1
    while block(fn, clock, n) < 200 * step:
        n *= 2
    return min(block(fn, clock, n) for _ in range(5)) / n
