"""Finds the right block size, but times forty blocks of each size: right and wasteful."""


def time_per_call(fn, clock):
    return smallest_of(fn, clock, 40)


def smallest_of(fn, clock, blocks):
    for _ in range(3):
        fn()
    step = smallest_step(clock)
    calls = 1
    while True:
        best = min(block(fn, clock, calls) for _ in range(blocks))
        if best >= 200 * step:
            return best / calls
        calls *= 2


def smallest_step(clock):
    first = clock()
    while (second := clock()) == first:
        pass
    while (third := clock()) == second:
        pass
    return third - second


def block(fn, clock, calls):
    start = clock()
    for _ in range(calls):
        fn()
    return clock() - start
