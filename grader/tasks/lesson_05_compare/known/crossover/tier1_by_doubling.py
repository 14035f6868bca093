"""Doubles the size until the faster function changes, and then bisects between the last two sizes. Compares f and g
twenty-five times at each size.
"""

from baseline import faster


def crossover(f, g, measure, low, high):
    first = faster(f, g, measure, low, 25)
    size = low
    while size < high:
        below, size = size, min(high, 2 * size)
        if faster(f, g, measure, size, 25) != first:
            return between(f, g, measure, below, size, first)
    return None


def between(f, g, measure, low, high, first):
    while high > low * 1.03 and high > low + 1:
        middle = (low + high) // 2
        if faster(f, g, measure, middle, 25) == first:
            low = middle
        else:
            high = middle
    return high
