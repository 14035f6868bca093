"""This is one long run, as timeit's autorange makes it. One number has no spread: split the time into blocks."""


def blocked_autorange(run, clock, min_run_time):
    n = 1
    while (seconds := time_block(run, clock, n)) < min_run_time:
        n *= 2
    return n, [seconds / n], seconds / n, 0.0


def time_block(run, clock, n):
    start = clock()
    run(n)
    return clock() - start
