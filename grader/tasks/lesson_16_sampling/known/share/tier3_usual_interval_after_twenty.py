"""Uses the usual interval, but only after 20 samples, and looks after every fifth sample."""

import math


def share(sample, name, margin):
    hits = n = 0
    while True:
        stack = sample()
        while not stack:
            stack = sample()
        n += 1
        hits += 1 if name in stack else 0
        if n >= 20 and n % 5 == 0:
            p = min(max(hits / n, 1 / n), 1 - 1 / n)
            if 2.1 * math.sqrt(p * (1 - p) / n) <= margin:
                return hits / n
