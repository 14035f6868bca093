"""This reads the clock when the launches have returned, and the work has not. It is the price of a launch. Synchronize
before the second reading."""


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    start = clock()
    for _ in range(200):
        launch()
    seconds = clock() - start
    synchronize()
    return seconds / 200
