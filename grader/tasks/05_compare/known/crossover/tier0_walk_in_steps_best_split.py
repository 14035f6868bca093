"""Walk all sizes in steps of 4 %, three pairs each, and take the split that contradicts the fewest winners."""

from statistics import median


def crossover(f, g, measure, low, high):
    sizes = [low]
    while sizes[-1] < high:
        sizes.append(min(high, max(sizes[-1] + 1, int(sizes[-1] * 1.04))))

    for name in (f, g):
        measure(name, low)  # the cold one

    f_wins = []
    for size in sizes:
        ratios = []
        for _ in range(3):
            ratios.append(measure(f, size) / measure(g, size))
        f_wins.append(median(ratios) < 1)

    n = len(sizes)
    total = sum(f_wins)

    # Nobody ever catches up: all winners the same, but for mistakes.
    none = min(total, n - total)

    best, where = none, None
    left = 0  # wins of f among the first k
    for k in range(1, n):
        left += f_wins[k - 1]
        right = total - left
        f_first = (k - left) + right  # mistakes when f wins up to here
        g_first = left + (n - k - right)
        mistakes = min(f_first, g_first)
        # The very last size alone is no evidence; something has to be gained.
        if mistakes < best:
            best, where = mistakes, k
    if where is None or none - best < 2:
        return None
    return sizes[where]
