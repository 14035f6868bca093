"""You compare the smallest time of f with the smallest time of g. When the machine changes its speed between your
measurements, one of the two minima may come from the fast time and the other from the slow time. Compare the two times
of each pair, and count the pairs."""

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
