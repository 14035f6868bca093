"""Measures three times and keeps the last measurement."""

import statistics

from baseline import collect, find_block_size, smallest_step, time_block


def blocked_autorange(run, clock, min_run_time):
    run(1)
    n = find_block_size(run, clock, 200 * smallest_step(clock))
    for _ in range(3):
        samples = collect(run, clock, n, min_run_time)
    low, middle, high = statistics.quantiles(samples, n=4)
    return n, samples, middle, high - low
