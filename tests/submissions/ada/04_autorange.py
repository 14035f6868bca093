import math
import statistics


def clock_step(clock):
    seen = []
    last = clock()
    while len(seen) < 5:
        now = clock()
        if now != last:
            seen.append(now - last)
            last = now
    return sorted(seen)[2]


def seconds_for(run, clock, n):
    start = clock()
    run(n)
    return clock() - start


def blocked_autorange(run, clock, min_run_time):
    run(1)  # warm up
    target = 200 * clock_step(clock)
    n = 1
    took = seconds_for(run, clock, n)
    while took < target:
        n *= 2
        took = seconds_for(run, clock, n)
    n = math.ceil(n * target / took)

    samples, total = [], 0.0
    while total < min_run_time or len(samples) < 10:
        took = seconds_for(run, clock, n)
        total += took
        samples.append(took / n)
    q1, q2, q3 = statistics.quantiles(samples, n=4)
    return n, samples, q2, q3 - q1
