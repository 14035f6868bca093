"""The mean of the blocks gives these wrong answers. The mean includes every interruption. Interruptions only add time,
so keep the smallest block.
"""


def time_per_call(fn, clock):
    for _ in range(3):
        fn()
    total = 0.0
    for _ in range(20):
        start = clock()
        for _ in range(32):
            fn()
        total += clock() - start
    return total / (20 * 32)
