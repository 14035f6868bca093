"""This waits after every launch, so each one pays for its launch and for the waiting, and the device stands idle in
between. Launch many times between two readings of the clock, and wait once, at the end."""


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    blocks = []
    for _ in range(4):
        start = clock()
        for _ in range(10):
            launch()
            synchronize()
        blocks.append(clock() - start)
    return min(blocks) / 10
