"""A block size computed from the very first run gives these wrong answers. That run is slow, and later runs are faster.
So the blocks are shorter than you planned. Run the statement once before you measure.
"""

import statistics

from baseline import collect, find_block_size, smallest_step, time_block


def blocked_autorange(run, clock, min_run_time):
    n = find_block_size(run, clock, 100 * smallest_step(clock))
    samples = collect(run, clock, n, min_run_time)
    low, middle, high = statistics.quantiles(samples, n=4)
    return n, samples, middle, high - low
