"""These blocks are so long that others used the device during each of them, the shortest as well. A block need only be
long beside what it costs to launch and to synchronize."""


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    launches = 1
    while block(launch, synchronize, clock, launches) < 0.1:
        launches *= 2
    return min(block(launch, synchronize, clock, launches) for _ in range(3)) / launches


def block(launch, synchronize, clock, launches):
    start = clock()
    for _ in range(launches):
        launch()
    synchronize()
    return clock() - start
