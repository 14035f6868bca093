"""The mean of five pairs gives these wrong answers. The noise of this mean is more than half of the threshold, and a
single outlier changes it by more than the threshold. Measure more pairs, and use the sign of each difference instead of
its size.
"""

import statistics


def is_slower(next_pair, threshold):
    pairs = [next_pair() for _ in range(5)]
    return statistics.fmean(b / a for a, b in pairs) > 1 + threshold / 2
