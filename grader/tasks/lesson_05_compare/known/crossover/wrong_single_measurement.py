"""Trusting one measurement of each function at a size gives these wrong answers. After one cold or interrupted
measurement, the search continues in the wrong half of the range. Compare several times at each size.
"""


def crossover(f, g, measure, low, high):
    first = measure(f, low) < measure(g, low)
    if (measure(f, high) < measure(g, high)) == first:
        return None
    while high > low * 1.001 and high > low + 1:
        middle = min(max(int((low * high) ** 0.5), low + 1), high - 1)
        if (measure(f, middle) < measure(g, middle)) == first:
            low = middle
        else:
            high = middle
    return high
