"""Warms both functions up, then bisects on a logarithmic scale. The sign of the median of seven log ratios of pairs
decides."""

from math import log, sqrt
from statistics import median


def crossover(f, g, measure, low, high):
    # The first measurements may be cold, so they do not count.
    measure(f, low)
    measure(g, low)

    def advantage(size):
        ratios = []
        for i in range(7):
            # f and g right after each other, at the same speed of the machine, in alternating order
            if i % 2 == 0:
                a = measure(f, size)
                b = measure(g, size)
            else:
                b = measure(g, size)
                a = measure(f, size)
            ratios.append(log(a / b))
        return median(ratios)

    start = advantage(low) < 0
    end = advantage(high) < 0
    if start == end:
        return None

    while high / low > 1.06 and high - low > 1:
        middle = int(sqrt(low * high))
        if middle in (low, high):
            middle = (low + high) // 2
        if (advantage(middle) < 0) == start:
            low = middle
        else:
            high = middle
    return round(sqrt(low * high))
