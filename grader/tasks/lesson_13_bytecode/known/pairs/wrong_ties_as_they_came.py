"""Equal numbers in the order of occurrence, as most_common returns them, give these wrong answers. Two traces can be
compared row by row only if equal numbers have a fixed order. Sort equal numbers by name.
"""

from collections import Counter


def pairs(trace):
    counts = Counter(zip(trace, trace[1:]))
    return [[*pair, count] for pair, count in counts.most_common() if count > 1]
