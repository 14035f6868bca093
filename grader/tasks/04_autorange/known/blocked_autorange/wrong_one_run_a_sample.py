"""Each sample is a single run, too short for this clock: its steps, and the time it takes to read it, are a
large part of what is measured. Put many runs into a block."""

import statistics


def blocked_autorange(run, clock, min_run_time):
    run(1)
    samples = []
    while len(samples) < 100:
        samples.append(time_block(run, clock, 1))
    low, middle, high = statistics.quantiles(samples, n=4)
    return 1, samples, middle, high - low


def time_block(run, clock, n):
    start = clock()
    run(n)
    return clock() - start
