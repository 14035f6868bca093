"""Times ten blocks of each size."""

from baseline import block, smallest_step


def time_per_call(fn, clock):
    for _ in range(3):
        fn()
    step = smallest_step(clock)
    calls = 1
    while True:
        best = min(block(fn, clock, calls) for _ in range(10))
        if best >= 200 * step:
            return best / calls
        calls *= 2
