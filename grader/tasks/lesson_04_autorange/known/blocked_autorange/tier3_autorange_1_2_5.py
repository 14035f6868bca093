"""Works like timeit.autorange: 1, 2, 5, 10, 20, 50 … runs until a block lasts 120 steps twice in a row. Then takes at
least ten blocks, until they last min_run_time together.
"""

import itertools
import statistics


def blocked_autorange(run, clock, min_run_time):
    def block(n):
        start = clock()
        run(n)
        return clock() - start

    def resolution():
        smallest = None
        for _ in range(8):
            a = clock()
            b = clock()
            while b == a:
                b = clock()
            if smallest is None or b - a < smallest:
                smallest = b - a
        return smallest

    block(1)
    step = resolution()
    needed = 120 * step

    for e in itertools.count():
        for m in (1, 2, 5):
            n = m * 10**e
            if block(n) < needed or block(n) < needed:
                continue
            times, total = [], 0.0
            while len(times) < 10 or total < min_run_time:
                times.append(block(n))
                total += times[-1]
                if times[-1] < 101 * step:
                    break
            else:
                samples = [t / n for t in times]
                quarters = statistics.quantiles(samples, n=4)
                return n, samples, statistics.median(samples), quarters[2] - quarters[0]
