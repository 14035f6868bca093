"""Stops when two standard deviations of the posterior distribution are within the margin.

Trade: The first few samples alone cannot stop it. It moves the result slightly towards one half.
"""

import math


def share(sample, name, margin):
    a, b = 1.0, 1.0
    while True:
        stack = sample()
        if not stack:
            continue
        if name in stack:
            a += 1
        else:
            b += 1
        deviation = math.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
        if 2 * deviation <= margin:
            return a / (a + b)
