"""Works like timeit: 1, 2, 5, 10, 20, 50 … launches until a block lasts 5 ms. Returns the minimum of five such blocks,
or continues with more launches if the minimum is below 5 ms.
"""

import itertools


def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    for power in itertools.count():
        for factor in (1, 2, 5):
            n = factor * 10**power
            times = []
            for _ in range(6):
                start = clock()
                for _ in range(n):
                    launch()
                synchronize()
                times.append(clock() - start)
                if times[-1] < 5e-3:
                    break
            else:
                return min(times) / n
