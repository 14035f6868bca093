"""The difference between a block of 2n calls and a block of n calls gives these wrong answers. The difference removes
the cost of the clock, but an interruption hits nearly every block of 2n calls. Take the shortest of several shorter
blocks, without a difference.
"""


def measure(fn, clock, n):
    t0 = clock()
    for _ in range(n):
        fn()
    return clock() - t0


def clock_step(clock):
    steps = set()
    for _ in range(40):
        t0 = clock()
        t1 = clock()
        while t1 <= t0:
            t1 = clock()
        steps.add(t1 - t0)
    return min(steps)


def time_per_call(fn, clock):
    measure(fn, clock, 3)
    target = 400 * clock_step(clock)
    n = 1
    while True:
        # the smallest of four blocks, so that an interruption does not end the search too early
        short = measure(fn, clock, n)
        if short >= target:
            short = min([short] + [measure(fn, clock, n) for _ in range(3)])
            if short >= target:
                break
        n *= 2
    long = min(measure(fn, clock, 2 * n) for _ in range(4))
    return (long - short) / n
