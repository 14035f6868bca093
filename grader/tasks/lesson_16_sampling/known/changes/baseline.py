"""Counts the functions of each stack in a set, with a regular expression for the line."""

import math
import re
from collections import Counter


def without_line(frame):
    return re.sub(r":\d+\)$", ")", frame)


def counts(lines, of_frames=set, name=without_line):
    seen, total = Counter(), 0
    for line in lines:
        stack, samples = re.fullmatch(r"(.*) (\d+)", line).groups()
        total += int(samples)
        for function in of_frames(map(name, stack.split(";"))):
            seen[function] += int(samples)
    return seen, total


def changes(before, after):
    return significant(*counts(before), *counts(after))


def significant(one, n, other, m):
    if n == 0 or m == 0:
        return []
    rows = []
    for function in sorted(set(one) | set(other)):
        a, b = one[function], other[function]
        p = min((a + b) / (n + m), 1)
        if abs(a / n - b / m) > 2 * math.sqrt(p * (1 - p) * (1 / n + 1 / m)):
            rows.append([function, a, b])
    return rows
