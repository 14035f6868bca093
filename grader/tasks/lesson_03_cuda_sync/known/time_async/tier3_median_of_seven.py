"""Returns the median of seven blocks of about 6 ms. The device is free for at least three quarters of the time, so
most blocks are undisturbed."""

import statistics


def time_async(launch, synchronize, clock):
    def block(n):
        t0 = clock()
        for _ in range(n):
            launch()
        synchronize()
        return clock() - t0

    block(1)
    # pilot: the median of three, because another program may be using the device
    n = 1
    while True:
        pilot = statistics.median(block(n) for _ in range(3))
        if pilot >= 4e-3:
            break
        n = max(2 * n, int(n * 6e-3 / pilot))
    result = statistics.median(block(n) for _ in range(7))
    while result < 4e-3:  # the pilot had been disturbed
        n *= 2
        result = statistics.median(block(n) for _ in range(7))
    return result / n
