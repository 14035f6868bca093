"""Doubles the block until it lasts 200 steps of the clock. Takes the smallest of five blocks, and starts over when that
block is too short.
"""


def time_per_call(fn, clock):
    for _ in range(3):
        fn()

    step = float("inf")
    for _ in range(20):
        a = clock()
        b = clock()
        while b == a:
            b = clock()
        step = min(step, b - a)

    n = 1
    blocks = []
    while len(blocks) < 5:
        start = clock()
        for _ in range(n):
            fn()
        elapsed = clock() - start
        if elapsed < 200 * step:
            # an interruption may have made a short block look long enough
            n *= 2
            blocks = []
        else:
            blocks.append(elapsed)
    return min(blocks) / n
