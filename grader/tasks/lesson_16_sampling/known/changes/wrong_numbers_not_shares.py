"""Comparing numbers of samples instead of shares gives these wrong answers. A longer recording has more samples of each
function. Divide by the number of all samples of the recording.
"""

import math
import re
from collections import Counter


def counts(lines):
    seen = Counter()
    for line in lines:
        stack, samples = line.rsplit(" ", 1)
        for function in {re.sub(r":\d+\)$", ")", frame) for frame in stack.split(";")}:
            seen[function] += int(samples)
    return seen


def changes(before, after):
    one, other = counts(before), counts(after)
    if not before or not after:
        return []
    rows = []
    for function in sorted(set(one) | set(other)):
        a, b = one[function], other[function]
        if abs(a - b) > 2 * math.sqrt(a + b):
            rows.append([function, a, b])
    return rows
