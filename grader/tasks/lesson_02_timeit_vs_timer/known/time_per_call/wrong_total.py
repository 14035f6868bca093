"""The time of a whole block of calls gives these wrong answers. Divide this time by the number of calls in the block."""


def time_per_call(fn, clock):
    for _ in range(3):
        fn()
    blocks = []
    for _ in range(5):
        start = clock()
        for _ in range(32):
            fn()
        blocks.append(clock() - start)
    return min(blocks)
