"""Waiting after every launch gives these wrong answers. The time per launch then includes the cost of launching and of
waiting, and the device is idle between two launches. Launch many times between two readings of the clock, and wait
once, at the end.
"""


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    blocks = []
    for _ in range(4):
        start = clock()
        for _ in range(10):
            launch()
            synchronize()
        blocks.append(clock() - start)
    return min(blocks) / 10
