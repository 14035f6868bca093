"""Bisects on a logarithmic scale, with nine rounds at each size."""

from baseline import faster


def crossover(f, g, measure, low, high):
    first = faster(f, g, measure, low)
    if faster(f, g, measure, high) == first:
        return None
    while high > low * 1.03 and high > low + 1:
        middle = min(max(int((low * high) ** 0.5), low + 1), high - 1)
        if faster(f, g, measure, middle) == first:
            low = middle
        else:
            high = middle
    return high
