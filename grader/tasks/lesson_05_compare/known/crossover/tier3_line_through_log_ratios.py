"""Fits a straight line to the log of the time ratio as a function of the log of the size. Then searches near the size
at which the line is zero.

Trade: Each line uses several measurements near the crossover. It measures a coarse grid of sizes first.
"""

import math
from statistics import median


def crossover(f, g, measure, low, high):
    def log_ratio(size, pairs=5):
        return median(math.log(measure(f, size) / measure(g, size)) for _ in range(pairs))

    def line_zero(xs, ys):
        mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
        sxx = sum((x - mx) ** 2 for x in xs)
        sxy = sum((x - mx) * (y - my) for x, y in zip(xs, ys))
        if sxx == 0 or abs(sxy) < 1e-9 * sxx:
            return None
        return mx - my * sxx / sxy

    measure(f, low)
    measure(g, low)
    known = {}

    def y_at(size):
        if size not in known:
            known[size] = log_ratio(size)
        return known[size]

    # First, a coarse grid of sizes shows between which two neighbours the sign changes.
    grid = sorted({round(low * (high / low) ** (i / 7)) for i in range(8)} | {low, high})
    sign = y_at(low) < 0
    if (y_at(high) < 0) == sign:
        return None
    a = low
    for size in grid:
        b = size
        if (y_at(size) < 0) != sign:
            break
        a = size

    # Then fit a line inside the bracket, and shrink the bracket around its zero.
    while b > 1.06 * a and b - a > 1:
        xs = [math.log(a), math.log(b)]
        inner = round(math.sqrt(a * b))
        inner = min(max(inner, a + 1), b - 1)
        xs.insert(1, math.log(inner))
        ys = [y_at(a), y_at(inner), y_at(b)]
        if (ys[1] < 0) == sign:
            a = inner
        else:
            b = inner
        zero = line_zero(xs, ys)
        if zero is None:
            continue
        for guess in (round(math.exp(zero - 0.03)), round(math.exp(zero + 0.03))):
            if a < guess < b:
                if (y_at(guess) < 0) == sign:
                    a = guess
                else:
                    b = guess
    return round(math.sqrt(a * b))
