"""After every ten pairs, computes an interval around the median from the MAD. Stops when 0 or the slowdown lies outside
the interval.
"""

from math import log, sqrt
from statistics import median


def is_slower(next_pair, threshold):
    delta = log(1 + threshold)
    logs = []
    middle = 0.0
    for n in range(1, 2001):
        a, b = next_pair()
        logs.append(log(b / a))
        if n < 30 or n % 10:
            continue
        middle = median(logs)
        mad = median([abs(x - middle) for x in logs])
        error = 1.2533 * 1.4826 * mad / sqrt(n)  # standard error of a median
        # Wider than 2.33 and 1.64, because there are many looks.
        if middle - 3.3 * error > 0 and middle > delta / 2:
            return True
        if middle + 2.7 * error < delta and middle < delta / 2:
            return False
    return middle > 0.6 * delta
