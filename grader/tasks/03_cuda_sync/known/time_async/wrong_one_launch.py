"""This times one launch at a time, so launching and synchronizing are a part of every figure. Put many launches between
two readings of the clock."""


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    return min(block(launch, synchronize, clock, 1) for _ in range(10))


def block(launch, synchronize, clock, launches):
    start = clock()
    for _ in range(launches):
        launch()
    synchronize()
    return clock() - start
