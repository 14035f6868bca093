"""Very long blocks give these wrong answers. Every block is interrupted, also the shortest. A block need only be long
enough for the clock.
"""


def time_per_call(fn, clock):
    for _ in range(3):
        fn()
    times = []
    for _ in range(3):
        start = clock()
        for _ in range(500):
            fn()
        times.append(clock() - start)
    return min(times) / 500
