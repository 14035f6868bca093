"""Reading the clock when the launches have returned gives these wrong answers. The work is not done then, so you
measure only the cost of a launch. Call synchronize() before the second reading.
"""


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    start = clock()
    for _ in range(200):
        launch()
    seconds = clock() - start
    synchronize()
    return seconds / 200
