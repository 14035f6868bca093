"""You choose the number of launches by one block of each size. When others use the device during that block, it looks
long enough and is too short. Take each size several times, and let the shortest of them decide."""


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
