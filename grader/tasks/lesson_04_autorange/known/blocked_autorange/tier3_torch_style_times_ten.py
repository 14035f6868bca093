"""Works like torch.utils.benchmark. Multiplies the runs by ten until the block is long enough, then takes as few runs
as needed. Measures blocks until min_run_time.

Trade: Multiplying by ten needs few steps. The last trial block may be much longer than necessary.
"""

import math
import statistics

from baseline import smallest_step, time_block


def blocked_autorange(run, clock, min_run_time):
    run(1)
    run(1)

    step = smallest_step(clock)
    minimum = 100 * step

    n = 1
    while True:
        elapsed = time_block(run, clock, n)
        if elapsed >= minimum / 4:
            break
        n *= 10
    n = max(1, math.ceil(1.25 * minimum * n / elapsed))

    while True:
        times, total = [], 0.0
        too_short = False
        while (total < min_run_time or len(times) < 10) and not too_short:
            times.append(time_block(run, clock, n))
            total += times[-1]
            too_short = times[-1] < 1.02 * minimum
        if not too_short:
            break
        n = max(n + 1, math.ceil(1.25 * minimum * n / max(times[-1], step)))

    samples = [t / n for t in times]
    q1, _, q3 = statistics.quantiles(samples, n=4)
    return n, samples, statistics.median(samples), q3 - q1
