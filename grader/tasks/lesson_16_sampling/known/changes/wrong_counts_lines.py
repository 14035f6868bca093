"""Counting lines instead of samples gives these wrong answers. The number at the end of a line is the number of samples
with this stack. Add these numbers.
"""

import math
import re
from collections import Counter


def counts(lines):
    seen = Counter()
    for line in lines:
        stack, _ = line.rsplit(" ", 1)
        seen.update({re.sub(r":\d+\)$", ")", frame) for frame in stack.split(";")})
    return seen


def changes(before, after):
    one, other = counts(before), counts(after)
    n, m = len(before), len(after)
    rows = []
    for function in sorted(set(one) | set(other)):
        a, b = one[function], other[function]
        p = (a + b) / max(n + m, 1)
        if n and m and abs(a / n - b / m) > 2 * math.sqrt(p * (1 - p) * (1 / n + 1 / m)):
            rows.append([function, a, b])
    return rows
