"""Takes a tenth more samples than the worst share needs, and averages the shares of ten equal groups."""

import math
import statistics

from baseline import busy


def share(sample, name, margin):
    size = math.ceil(1.1 / margin**2 / 10)
    return statistics.fmean(sum(name in busy(sample) for _ in range(size)) / size for _ in range(10))
