"""Doubles the launches in a block, and times a single block of each size. Times three blocks only of the last size."""

from baseline import block


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    launches = 1
    while True:
        best = block(launch, synchronize, clock, launches)
        if best >= 5e-3:
            best = min(block(launch, synchronize, clock, launches) for _ in range(3))
            if best >= 5e-3:
                return best / launches
        launches *= 2
