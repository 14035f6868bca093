"""The mean of the samples gives these wrong answers. The mean includes the bursts of another program. The median does
not.
"""

import statistics

from baseline import collect, find_block_size, smallest_step, time_block


def blocked_autorange(run, clock, min_run_time):
    run(1)
    n = find_block_size(run, clock, 200 * smallest_step(clock))
    samples = collect(run, clock, n, min_run_time)
    low, _, high = statistics.quantiles(samples, n=4)
    return n, samples, statistics.mean(samples), high - low
