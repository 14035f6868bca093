"""Times four blocks of each size."""

from baseline import block


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    launches = 1
    while True:
        best = min(block(launch, synchronize, clock, launches) for _ in range(4))
        if best >= 5e-3:
            return best / launches
        launches *= 2
