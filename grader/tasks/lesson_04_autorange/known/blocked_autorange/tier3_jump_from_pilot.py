"""Times two pilot blocks of at least 10 steps, and computes from the shorter one the block size for 120 steps. Takes
samples until there are enough, and corrects the size once if it is too small.

Trade: It tries few block sizes. If both pilot blocks are disturbed, the first blocks are too short, and it must begin
again.
"""

import math
import statistics

from baseline import smallest_step, time_block


def blocked_autorange(run, clock, min_run_time):
    run(1)

    step = smallest_step(clock)

    n = 1
    pilot = time_block(run, clock, n)
    while pilot < 10 * step:
        n *= 4
        pilot = time_block(run, clock, n)
    pilot = max(step, min(pilot, time_block(run, clock, n)))
    n = max(1, math.ceil(n * 120 * step / pilot))

    durations, total = [], 0.0
    while len(durations) < 10 or total < min_run_time:
        t = time_block(run, clock, n)
        if t < 102 * step:
            n = max(n + 1, math.ceil(n * 120 * step / max(t, step)))
            durations, total = [], 0.0
        else:
            durations.append(t)
            total += t

    samples = [t / n for t in durations]
    q = statistics.quantiles(samples, n=4)
    return n, samples, statistics.median(samples), q[2] - q[0]
