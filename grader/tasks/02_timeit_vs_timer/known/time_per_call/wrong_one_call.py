"""This times one call at a time. The clock's step and the time it takes to read it are too large a part of one call,
however often you repeat it: put many calls between the two readings."""


def time_per_call(fn, clock):
    for _ in range(3):
        fn()
    times = []
    for _ in range(20):
        start = clock()
        fn()
        times.append(clock() - start)
    return min(times)
