"""Stops when Wilson's interval is narrow enough, and returns the observed share."""

import math


def share(sample, name, margin):
    z = 1.96
    hits = n = 0
    while True:
        stack = sample()
        if not stack:
            continue
        n += 1
        hits += name in stack
        p = hits / n
        width = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        if width <= margin:
            return p
