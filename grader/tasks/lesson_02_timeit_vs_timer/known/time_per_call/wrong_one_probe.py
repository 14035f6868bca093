"""Choosing the number of calls by one block of each size gives these wrong answers. An interruption makes a short block
look long enough for the clock. Time each size several times, and let the shortest block decide.
"""


def time_per_call(fn, clock):
    step = min(_step(clock) for _ in range(5))
    for _ in range(3):
        fn()
    n = 1
    while _block(fn, clock, n) < 200 * step:
        n *= 2
    return min(_block(fn, clock, n) for _ in range(5)) / n


def _step(clock):
    a = clock()
    b = clock()
    while b == a:
        b = clock()
    return b - a


def _block(fn, clock, n):
    start = clock()
    for _ in range(n):
        fn()
    return clock() - start
