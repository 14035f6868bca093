"""Leaving the line in the frame gives these wrong answers. py-spy writes the line that ran, so the same function occurs
with several lines. Remove the colon and the digits before the last parenthesis.
"""

import math
from collections import Counter


def counts(lines):
    seen, total = Counter(), 0
    for line in lines:
        stack, samples = line.rsplit(" ", 1)
        total += int(samples)
        for function in set(stack.split(";")):
            seen[function] += int(samples)
    return seen, total


def changes(before, after):
    (one, n), (other, m) = counts(before), counts(after)
    rows = []
    for function in sorted(set(one) | set(other)):
        a, b = one[function], other[function]
        p = (a + b) / max(n + m, 1)
        if n and m and abs(a / n - b / m) > 2 * math.sqrt(p * (1 - p) * (1 / n + 1 / m)):
            rows.append([function, a, b])
    return rows
