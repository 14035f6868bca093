"""Stops when two standard deviations of the posterior distribution are within the margin.

Trade: The first few samples alone cannot stop it. It moves the result slightly towards one half.
"""

import math

from baseline import busy


def share(sample, name, margin):
    a = b = 1.0
    while 2 * math.sqrt(a * b / ((a + b) ** 2 * (a + b + 1))) > margin:
        if name in busy(sample):
            a += 1
        else:
            b += 1
    return a / (a + b)
