"""This is the mean of the blocks. What others do on the device only ever adds time, so the mean carries all of it: keep
the shortest block."""


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    launches = 1
    while block(launch, synchronize, clock, launches) < 5e-3:
        launches *= 2
    return sum(block(launch, synchronize, clock, launches) for _ in range(20)) / (20 * launches)


def block(launch, synchronize, clock, launches):
    start = clock()
    for _ in range(launches):
        launch()
    synchronize()
    return clock() - start
