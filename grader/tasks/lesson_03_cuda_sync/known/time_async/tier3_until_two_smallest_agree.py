"""Times blocks of 8 to 10 ms until the two smallest agree within 0.3 %, because these two were undisturbed.

Trade: Two undisturbed blocks of the last size are enough. On a noisy device it needs many blocks, and there is no
limit.
"""

import math

from baseline import block


def time_async(launch, synchronize, clock):
    launch()
    synchronize()

    n, times = 1, []
    while True:
        t = block(launch, synchronize, clock, n)
        if t < 0.007:
            # too short, because other programs had lengthened the previous block
            n = math.ceil(n * 0.009 / t)
            times = []
            continue
        times.append(t)
        times.sort()
        if len(times) > 1 and times[1] <= 1.003 * times[0]:
            return times[0] / n
