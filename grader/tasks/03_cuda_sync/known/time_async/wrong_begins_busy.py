"""The device was still busy with what came before when this read the clock for the first time, so a block holds work
that is not its own. Synchronize before the first reading, once: after that, each block leaves an idle device."""


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    for _ in range(20):
        launch()
    start = clock()
    for _ in range(100):
        launch()
    synchronize()
    return (clock() - start) / 100
