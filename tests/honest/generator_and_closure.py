"""Measures with generators and closures that hide the clock and the runs.

04_autorange earns 10, passed: That is the top tier.
"""

import itertools
import math
import statistics


def stopwatch(run, clock):
    def seconds(runs):
        start = clock()
        run(runs)
        return clock() - start

    return seconds


def steps(clock):
    readings = iter(clock, None)
    yield from (now - before for before, now in itertools.pairwise(readings) if now > before)


def blocked_autorange(run, clock, min_run_time):
    run(1)
    seconds = stopwatch(run, clock)
    aim = 200 * statistics.median(itertools.islice(steps(clock), 5))
    size, took = next((n, took) for n in (2**k for k in itertools.count()) if (took := seconds(n)) >= aim)
    size = math.ceil(aim / (took / size))
    samples = []

    def enough():
        return len(samples) >= 10 and sum(samples) * size >= min_run_time

    for sample in (seconds(size) / size for _ in itertools.takewhile(lambda _: not enough(), itertools.count())):
        samples.append(sample)
    low, middle, high = statistics.quantiles(samples, n=4)
    return size, samples, middle, high - low
