"""Careful and wasteful: five warm-up runs, forty readings of the clock, three blocks of each size. Takes 25 or more
blocks of at least 200 steps, until they last 1.1 times min_run_time.
"""

import statistics


def blocked_autorange(run, clock, min_run_time):
    for _ in range(5):
        run(1)

    looks = []
    for _ in range(40):
        a = clock()
        b = clock()
        while b == a:
            b = clock()
        looks.append(b - a)
    step = min(looks)

    def block(n):
        a = clock()
        run(n)
        b = clock()
        return b - a

    n = 1
    while True:
        while min(block(n), block(n), block(n)) < 200 * step:
            n *= 2
        times, total = [], 0.0
        while len(times) < 25 or total < 1.1 * min_run_time:
            times.append(block(n))
            total += times[-1]
        if min(times) >= 100 * step:
            break
        n *= 2

    samples = [t / n for t in times]
    q1, q2, q3 = statistics.quantiles(samples, n=4)
    return n, samples, q2, q3 - q1
