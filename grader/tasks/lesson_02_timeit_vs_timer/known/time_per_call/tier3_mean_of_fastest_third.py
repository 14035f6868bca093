"""Returns a trimmed mean: the mean of the four fastest of twelve blocks of at least 250 steps.

Trade: A mean of several times varies less than one minimum. It needs twelve blocks of each size.
"""

from statistics import mean


def time_per_call(fn, clock):
    warmup, blocks, keep, steps = 5, 12, 4, 250
    for _ in range(warmup):
        fn()

    tick = None
    for _ in range(20):
        t = clock()
        u = clock()
        while u == t:
            u = clock()
        tick = u - t if tick is None else min(tick, u - t)

    n = 1
    while True:
        times = []
        for _ in range(blocks):
            start = clock()
            for _ in range(n):
                fn()
            times.append(clock() - start)
            if times[-1] < steps * tick:
                break
        else:
            return mean(sorted(times)[:keep]) / n
        n *= 2
