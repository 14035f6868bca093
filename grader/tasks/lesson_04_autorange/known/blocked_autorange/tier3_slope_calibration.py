"""Computes the seconds per run from the difference of two pilot blocks of 2m and m runs, so that the clock's reading
time cancels. Aims at blocks of 125 steps.

Trade: The difference removes the time of reading the clock. A difference of two noisy times is less certain than one
time.
"""

import math
import statistics


def blocked_autorange(run, clock, min_run_time):
    def block(n):
        start = clock()
        run(n)
        return clock() - start

    run(1)
    differences = []
    previous = clock()
    while len(differences) < 6:
        reading = clock()
        if reading > previous:
            differences.append(reading - previous)
            previous = reading
    step = min(differences)

    m = 1
    once = block(m)
    while True:
        twice = block(2 * m)
        if twice - once >= 10 * step:
            break
        m *= 2
        once = twice
    per_run = min((twice - once) / m, twice / (2 * m))
    n = max(1, math.ceil(125 * step / per_run))

    samples, total = [], 0.0
    while total < min_run_time or len(samples) < 10:
        t = block(n)
        if t < 102 * step:
            n = max(n + 1, math.ceil(1.25 * n * 100 * step / max(t, step)))
            samples, total = [], 0.0
            continue
        samples.append(t / n)
        total += t

    ordered = sorted(samples)

    def quantile(p):
        at = p * (len(ordered) - 1)
        i = int(at)
        j = min(i + 1, len(ordered) - 1)
        return ordered[i] + (at - i) * (ordered[j] - ordered[i])

    return n, samples, quantile(0.5), quantile(0.75) - quantile(0.25)
