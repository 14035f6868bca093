"""Comparing the smallest time of f with the smallest time of g gives these wrong answers. When the machine changes its
speed, one minimum may come from a fast period and the other from a slow period. Compare the two times of each pair, and
count which function wins more pairs.
"""

import math


def crossover(f, g, measure, low, high):
    def f_wins(size):
        best_f = best_g = math.inf
        for _ in range(5):
            best_f = min(best_f, measure(f, size))
            best_g = min(best_g, measure(g, size))
        return best_f < best_g

    at_low = f_wins(low)
    if f_wins(high) == at_low:
        return None
    while high - low > 1 and high > 1.05 * low:
        middle = round(math.sqrt(low * high))
        middle = min(max(middle, low + 1), high - 1)
        if f_wins(middle) == at_low:
            low = middle
        else:
            high = middle
    return high
