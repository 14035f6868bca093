"""Takes 1 / margin² busy samples, collected in a set of two counters."""

from collections import Counter


def share(sample, name, margin):
    counts = Counter()
    while counts.total() * margin * margin < 1:
        stack = sample()
        if stack:
            counts[name in stack] += 1
    return counts[True] / counts.total()
