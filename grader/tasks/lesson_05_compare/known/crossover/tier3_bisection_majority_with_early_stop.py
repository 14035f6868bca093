"""Bisects. At each size it measures pairs until one function leads by three wins, and at most 15 pairs.

Trade: It stops early where one function clearly wins. Near the crossover it needs up to 15 pairs per size.
"""

import math


def crossover(f, g, measure, low, high):
    def winner(size, lead=3, most=15):
        score = 0
        for _ in range(most):
            if measure(f, size) < measure(g, size):
                score += 1
            else:
                score -= 1
            if abs(score) >= lead:
                break
        return f if score > 0 else g

    measure(f, low), measure(g, low)  # cold

    first = winner(low, lead=4)
    last = winner(high, lead=4)
    if first == last:
        return None

    a, b = low, high
    while b > a + 1 and b / a > 1.07:
        m = round(math.exp((math.log(a) + math.log(b)) / 2))
        m = max(a + 1, min(b - 1, m))
        if winner(m) == first:
            a = m
        else:
            b = m
    return round(math.sqrt(a * b))
