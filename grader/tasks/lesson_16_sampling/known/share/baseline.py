"""Takes 4 / margin² samples in which the program is busy, for every share."""

import math


def share(sample, name, margin):
    wanted = math.ceil(4 / margin**2)
    hits = total = 0
    while total < wanted:
        stack = sample()
        if stack:
            total += 1
            hits += name in stack
    return hits / total
