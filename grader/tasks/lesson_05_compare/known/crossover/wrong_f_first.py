"""Assuming that f is faster at small sizes gives these wrong answers. First compare at the smallest and the largest
size. g may be faster at small sizes, or the faster function may never change.
"""


def crossover(f, g, measure, low, high):
    while high > low * 1.03 and high > low + 1:
        middle = min(max(int((low * high) ** 0.5), low + 1), high - 1)
        if wins(f, g, measure, middle) > 4:
            low = middle
        else:
            high = middle
    return high


def wins(f, g, measure, size):
    return sum(measure(f, size) < measure(g, size) for _ in range(9))
