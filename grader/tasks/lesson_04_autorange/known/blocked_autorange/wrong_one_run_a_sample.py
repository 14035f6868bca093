"""A single run per sample gives these wrong answers. One run is too short for this clock: its step and the time of a
reading are a large part of the sample. Put many runs into a block.
"""

import statistics

from baseline import time_block


def blocked_autorange(run, clock, min_run_time):
    run(1)
    samples = []
    while len(samples) < 100:
        samples.append(time_block(run, clock, 1))
    low, middle, high = statistics.quantiles(samples, n=4)
    return 1, samples, middle, high - low
