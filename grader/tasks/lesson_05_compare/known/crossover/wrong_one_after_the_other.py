"""Measuring f at all sizes first, and then g, gives these wrong answers. The machine changes its speed in between. At
each size, measure f and g right after each other.
"""


def crossover(f, g, measure, low, high):
    sizes = [low]
    while sizes[-1] < high:
        sizes.append(min(high, max(sizes[-1] + 1, round(sizes[-1] * 1.05))))
    curves = [[min(measure(which, size) for _ in range(5)) for size in sizes] for which in (f, g)]
    first = curves[0][0] < curves[1][0]
    for size, a, b in zip(sizes, *curves):
        if (a < b) != first:
            return size
    return None
