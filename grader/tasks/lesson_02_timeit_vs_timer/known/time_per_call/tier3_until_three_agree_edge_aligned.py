"""Uses blocks of 250 steps that begin exactly on a tick, and adds half a step at the end. Stops when the three smallest
times differ by at most about one step.

Trade: It stops early if the times agree. On a noisy machine it needs up to twelve blocks, and each block waits for a
tick first.
"""

import math

from baseline import smallest_step


def time_per_call(fn, clock):
    def tick():
        a = clock()
        b = clock()
        while b == a:
            b = clock()
        return b

    step = min(smallest_step(clock) for _ in range(20))

    def block(n):
        start = tick()
        for _ in range(n):
            fn()
        return clock() - start

    for _ in range(3):
        fn()

    n, times = 1, []
    while True:
        t = block(n)
        if t < 250 * step:
            # compute the size from the last block, where there is one
            n = max(n + 1, math.ceil(n * 260 * step / t)) if t >= 8 * step else n * 3
            times = []
            continue
        times = sorted(times + [t])
        if len(times) >= 12 or (len(times) >= 3 and times[2] - times[0] <= 1.5 * step):
            return (times[0] + step / 2) / n
