"""Doubles the block until it lasts 200 steps of the clock; the smallest of five blocks, starting over when one turns out too short."""


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
            # also when an interruption had made a short block look long enough
            n *= 2
            blocks = []
        else:
            blocks.append(elapsed)
    return min(blocks) / n
