"""Merges equal stacks first, and keeps the functions of a stack in a frozenset."""

import math
from collections import defaultdict


def read(lines):
    merged = defaultdict(int)
    for line in lines:
        stack, count = line.rsplit(" ", 1)
        functions = set()
        for frame in stack.split(";"):
            head, colon, line_number = frame[:-1].rpartition(":")
            functions.add(head + ")" if colon and line_number.isdecimal() else frame)
        merged[frozenset(functions)] += int(count)
    return merged


def changes(before, after):
    runs = [read(before), read(after)]
    n, m = (sum(run.values()) for run in runs)
    functions = set()
    for run in runs:
        functions = functions.union(*run)
    result = []
    for function in functions:
        a, b = (sum(count for stack, count in run.items() if function in stack) for run in runs)
        if n and m and 0 < a + b < n + m:
            p = (a + b) / (n + m)
            z = (a / n - b / m) / math.sqrt(p * (1 - p) * (1 / n + 1 / m))
            if z > 2 or z < -2:
                result.append((function, a, b))
    result.sort()
    return result
