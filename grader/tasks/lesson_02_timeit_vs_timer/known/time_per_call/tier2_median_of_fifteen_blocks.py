"""Returns the median of fifteen blocks of at least 250 steps. Most blocks are free of interruptions."""

import statistics


def time_per_call(fn, clock):
    for _ in range(5):
        fn()

    last = clock()
    changes = []
    while len(changes) < 15:
        now = clock()
        if now != last:
            changes.append(now - last)
        last = now
    target = 250 * min(changes)

    def blocks(n, count):
        result = []
        for _ in range(count):
            start = clock()
            for _ in range(n):
                fn()
            result.append(clock() - start)
        return result

    n = 1
    while statistics.median(blocks(n, 3)) < target:
        n *= 2
    measured = statistics.median(blocks(n, 15))
    while measured < target:
        n *= 2
        measured = statistics.median(blocks(n, 15))
    return measured / n
