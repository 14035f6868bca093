"""Bisects by the arithmetic mean down to a single size, with thirteen comparisons at each."""


def crossover(f, g, measure, low, high):
    first = faster(f, g, measure, low)
    if faster(f, g, measure, high) == first:
        return None
    while high > low + 1:
        middle = (low + high) // 2
        if faster(f, g, measure, middle) == first:
            low = middle
        else:
            high = middle
    return high


def faster(f, g, measure, size):
    wins = sum(measure(f, size) < measure(g, size) for _ in range(13))
    return f if wins > 6 else g
