"""One measurement of each was believed at each size. One that was cold or interrupted sends the search the wrong way, and it
never comes back: compare several times."""


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
