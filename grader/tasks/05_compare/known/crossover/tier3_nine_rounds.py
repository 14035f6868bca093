"""Bisection on a logarithmic scale, nine rounds at each size."""


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


def faster(f, g, measure, size):
    wins = sum(measure(f, size) < measure(g, size) for _ in range(9))
    return f if wins > 4 else g
