"""Adds two hits and two misses, and stops when the usual interval of the result is narrow enough.

Trade: Its formula is short. It moves the result slightly towards one half.
"""

import math


def share(sample, name, margin):
    hits, n = 2, 4
    while True:
        if stack := sample():
            hits += name in stack
            n += 1
            p = hits / n
            if 2 * math.sqrt(p * (1 - p) / n) <= margin:
                return p
