"""Counting each frame gives these wrong answers. A function that calls itself is on the stack several times, but all its
frames belong to the same samples. Make a set of the functions of a stack.
"""

import math
import re
from collections import Counter


def counts(lines):
    seen, total = Counter(), 0
    for line in lines:
        stack, samples = line.rsplit(" ", 1)
        total += int(samples)
        for frame in stack.split(";"):
            seen[re.sub(r":\d+\)$", ")", frame)] += int(samples)
    return seen, total


def changes(before, after):
    (one, n), (other, m) = counts(before), counts(after)
    rows = []
    for function in sorted(set(one) | set(other)):
        a, b = one[function], other[function]
        p = min((a + b) / max(n + m, 1), 1)
        if n and m and abs(a / n - b / m) > 2 * math.sqrt(p * (1 - p) * (1 / n + 1 / m)):
            rows.append([function, a, b])
    return rows
