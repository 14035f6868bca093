"""Warms up with three launches. Doubles the launches in a block until it lasts 10 ms twice in a row, and returns the
smallest of ten blocks.
"""


def block(launch, synchronize, clock, n):
    start = clock()
    for _ in range(n):
        launch()
    synchronize()
    return clock() - start


def time_async(launch, synchronize, clock):
    for _ in range(3):
        launch()
    synchronize()

    n = 1
    while min(block(launch, synchronize, clock, n) for _ in range(2)) < 0.010:
        n *= 2
    return min(block(launch, synchronize, clock, n) for _ in range(10)) / n
