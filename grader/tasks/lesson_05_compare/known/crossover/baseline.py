"""Tries all sizes in steps of 8 %, with nine comparisons at each, until the faster function changes."""


def crossover(f, g, measure, low, high):
    first = faster(f, g, measure, low)
    size = low
    while size < high:
        size = min(high, max(size + 1, round(size * 1.08)))
        if faster(f, g, measure, size) != first:
            return max(low, round(size / 1.04))
    return None


def faster(f, g, measure, size, pairs=9):
    wins = sum(measure(f, size) < measure(g, size) for _ in range(pairs))
    return f if wins > pairs // 2 else g
