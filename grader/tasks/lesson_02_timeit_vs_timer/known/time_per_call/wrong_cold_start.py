"""Counting the first calls gives these wrong answers. The first calls are far slower than all later calls. Call fn a
few times before you read the clock.
"""


def time_per_call(fn, clock):
    start = clock()
    for _ in range(100):
        fn()
    return (clock() - start) / 100
