"""Returning every function whose share differs gives these wrong answers. The shares of two recordings differ by chance,
also without a change. Return only differences larger than two standard errors.
"""

import re
from collections import Counter


def counts(lines):
    seen, total = Counter(), 0
    for line in lines:
        stack, samples = line.rsplit(" ", 1)
        total += int(samples)
        for function in {re.sub(r":\d+\)$", ")", frame) for frame in stack.split(";")}:
            seen[function] += int(samples)
    return seen, total


def changes(before, after):
    (one, n), (other, m) = counts(before), counts(after)
    if n == 0 or m == 0:
        return []
    return [[f, one[f], other[f]] for f in sorted(set(one) | set(other)) if one[f] * m != other[f] * n]
