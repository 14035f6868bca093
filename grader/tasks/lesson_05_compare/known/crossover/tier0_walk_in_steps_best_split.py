"""Tries all sizes in steps of 4 %, with three pairs at each, and returns the size that contradicts the fewest
comparisons.
"""

from statistics import median


def crossover(f, g, measure, low, high):
    sizes = [low]
    while sizes[-1] < high:
        sizes.append(min(high, max(sizes[-1] + 1, int(sizes[-1] * 1.04))))

    for name in (f, g):
        measure(name, low)  # the first measurement is cold

    f_wins = []
    for size in sizes:
        ratios = []
        for _ in range(3):
            ratios.append(measure(f, size) / measure(g, size))
        f_wins.append(median(ratios) < 1)

    n = len(sizes)
    total = sum(f_wins)

    # The same function is faster at every size, except in a few wrong comparisons.
    none = min(total, n - total)

    best, where = none, None
    left = 0  # wins of f at the first k sizes
    for k in range(1, n):
        left += f_wins[k - 1]
        right = total - left
        f_first = (k - left) + right  # wrong comparisons if f wins up to size k
        g_first = left + (n - k - right)
        mistakes = min(f_first, g_first)
        # The last size alone is not enough evidence.
        if mistakes < best:
            best, where = mistakes, k
    if where is None or none - best < 2:
        return None
    return sizes[where]
