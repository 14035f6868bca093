"""Very long blocks give these wrong answers. Other programs use the device during every block, also the shortest. A
block need only be long compared with the cost of launching and synchronizing.
"""

from baseline import block


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    launches = 1
    while block(launch, synchronize, clock, launches) < 0.1:
        launches *= 2
    return min(block(launch, synchronize, clock, launches) for _ in range(3)) / launches
