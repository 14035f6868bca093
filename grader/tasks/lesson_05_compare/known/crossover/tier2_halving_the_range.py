"""Bisects by the arithmetic mean down to a single size, with thirteen comparisons at each."""

from baseline import faster


def crossover(f, g, measure, low, high):
    first = faster(f, g, measure, low, 13)
    if faster(f, g, measure, high, 13) == first:
        return None
    while high > low + 1:
        middle = (low + high) // 2
        if faster(f, g, measure, middle, 13) == first:
            low = middle
        else:
            high = middle
    return high
