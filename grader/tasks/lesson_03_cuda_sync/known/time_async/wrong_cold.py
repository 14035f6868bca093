"""Counting the first launch gives these wrong answers. This launch loads a library. Launch once and synchronize before
you read the clock.
"""


def time_async(launch, synchronize, clock):
    start = clock()
    for _ in range(200):
        launch()
    synchronize()
    return (clock() - start) / 200
