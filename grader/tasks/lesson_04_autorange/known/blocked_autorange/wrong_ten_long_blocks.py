"""Blocks of a tenth of min_run_time give these wrong answers. Another program disturbs every such block, so the median
is too long. A block need only be long enough for the clock.
"""

import statistics

from baseline import collect, find_block_size, smallest_step, time_block


def blocked_autorange(run, clock, min_run_time):
    run(1)
    n = find_block_size(run, clock, min_run_time / 10)
    samples = collect(run, clock, n, min_run_time)
    low, middle, high = statistics.quantiles(samples, n=4)
    return n, samples, middle, high - low
