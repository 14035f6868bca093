"""Takes the samples that the normal approximation needs for the share one half."""

import math


def share(sample, name, margin):
    wanted = math.ceil((1.96 * 0.5 / margin) ** 2)
    hits = total = 0
    while total < wanted:
        stack = sample()
        if stack:
            total += 1
            hits += name in stack
    return hits / total
