"""Takes a tenth more samples than the worst share needs, and averages the shares of ten equal groups."""

import math
import statistics


def share(sample, name, margin):
    size = math.ceil(1.1 / margin**2 / 10)
    shares = []
    for _ in range(10):
        group = []
        while len(group) < size:
            stack = sample()
            if stack:
                group.append(name in stack)
        shares.append(sum(group) / size)
    return statistics.fmean(shares)
