"""Measures everything eight times to be warm, and keeps the last measurement."""

import math
import statistics


def blocked_autorange(run, clock, min_run_time):
    return last_of(run, clock, min_run_time, 8)


def last_of(run, clock, min_run_time, measurements):
    run(1)
    n = find_block_size(run, clock, 200 * smallest_step(clock))
    for _ in range(measurements):
        samples = collect(run, clock, n, min_run_time)
    low, middle, high = statistics.quantiles(samples, n=4)
    return n, samples, middle, high - low


def collect(run, clock, n, min_run_time):
    samples = []
    total = 0
    while total < min_run_time or len(samples) < 10:
        seconds = time_block(run, clock, n)
        samples.append(seconds / n)
        total += seconds
    return samples


def smallest_step(clock):
    steps = []
    before = clock()
    while len(steps) < 5:
        now = clock()
        if now > before:
            steps.append(now - before)
        before = now
    return statistics.median(steps)


def find_block_size(run, clock, aim):
    n = 1
    while (seconds := time_block(run, clock, n)) < aim:
        n *= 2
    return math.ceil(aim * n / seconds)


def time_block(run, clock, n):
    start = clock()
    run(n)
    return clock() - start
