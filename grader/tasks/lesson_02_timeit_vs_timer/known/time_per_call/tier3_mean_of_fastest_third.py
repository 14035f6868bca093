"""Returns a trimmed mean: the mean of the four fastest of twelve blocks of at least 250 steps.

Trade: A mean of several times varies less than one minimum. It needs twelve blocks of each size.
"""

from statistics import mean

from baseline import block, smallest_step


def time_per_call(fn, clock):
    warmup, blocks, keep, steps = 5, 12, 4, 250
    for _ in range(warmup):
        fn()

    tick = min(smallest_step(clock) for _ in range(20))
    n = 1
    while True:
        times = []
        for _ in range(blocks):
            times.append(block(fn, clock, n))
            if times[-1] < steps * tick:
                break
        else:
            return mean(sorted(times)[:keep]) / n
        n *= 2
