"""Choosing the number of launches by one block of each size gives these wrong answers. When other programs use the
device, a short block looks long enough. Time each size several times, and let the shortest block decide.
"""


def time_async(launch, synchronize, clock):
    def block(n):
        start = clock()
        for _ in range(n):
            launch()
        synchronize()
        return clock() - start

    launch()
    synchronize()
    n = 1
    while block(n) < 0.008:
        n *= 2
    return min(block(n) for _ in range(8)) / n
