"""Finds the right block size, but times twenty blocks of each size: right and wasteful."""


def time_async(launch, synchronize, clock):
    return smallest_of(launch, synchronize, clock, 20)


def smallest_of(launch, synchronize, clock, blocks):
    launch()
    synchronize()
    launches = 1
    while True:
        best = min(block(launch, synchronize, clock, launches) for _ in range(blocks))
        if best >= 5e-3:
            return best / launches
        launches *= 2


def block(launch, synchronize, clock, launches):
    start = clock()
    for _ in range(launches):
        launch()
    synchronize()
    return clock() - start
