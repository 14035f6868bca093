"""Works like timeit: 1, 2, 5, 10, 20, 50 … calls until a block lasts 300 clock steps. Then it repeats the block five
times and returns the minimum."""

import itertools


def timeit(fn, clock, number):
    start = clock()
    for _ in range(number):
        fn()
    return clock() - start


def resolution(clock):
    differences = []
    last = clock()
    while len(differences) < 30:
        now = clock()
        if now > last:
            differences.append(now - last)
            last = now
    return min(differences)


def time_per_call(fn, clock):
    timeit(fn, clock, 3)  # warm-up
    enough = 300 * resolution(clock)

    numbers = (m * 10**e for e in itertools.count() for m in (1, 2, 5))
    for number in numbers:
        if timeit(fn, clock, number) < enough:
            continue
        best = min(timeit(fn, clock, number) for _ in range(5))
        if best >= enough:  # otherwise an interruption made the first block look long enough
            return best / number
