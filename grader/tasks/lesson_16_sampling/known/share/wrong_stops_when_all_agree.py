"""Stopping when the usual interval is narrow enough, from the first sample on, gives these wrong answers. If the first
samples agree, √(p × (1 - p) / n) is 0, although the share is hardly known. Use an interval that is never empty.
"""

import math


def share(sample, name, margin):
    hits = n = 0
    while True:
        stack = sample()
        if not stack:
            continue
        n += 1
        hits += name in stack
        p = hits / n
        if 2 * math.sqrt(p * (1 - p) / n) <= margin:
            return p
