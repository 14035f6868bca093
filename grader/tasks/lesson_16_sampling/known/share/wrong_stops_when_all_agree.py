"""Stopping when the usual interval is narrow enough, from the first sample on, gives these wrong answers. If the first
samples agree, √(p × (1 - p) / n) is 0, although the share is hardly known. Use an interval that is never empty.
"""

import math

from baseline import busy


def share(sample, name, margin):
    hits = n = 0
    while not n or 2 * math.sqrt(hits * (n - hits) / n**3) > margin:
        hits += name in busy(sample)
        n += 1
    return hits / n
