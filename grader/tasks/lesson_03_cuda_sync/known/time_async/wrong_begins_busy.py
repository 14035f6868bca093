"""Reading the clock while the device is still busy with earlier work gives these wrong answers. The block then includes
that work. Call synchronize() once before the first reading. After that, the device is idle at the end of each block.
"""


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    for _ in range(20):
        launch()
    start = clock()
    for _ in range(100):
        launch()
    synchronize()
    return (clock() - start) / 100
