"""Leaving the line in the frame gives these wrong answers. py-spy writes the line that ran, so the same function occurs
with several lines. Remove the colon and the digits before the last parenthesis.
"""

from collections import Counter

from baseline import significant


def counts(lines):
    seen, total = Counter(), 0
    for line in lines:
        stack, samples = line.rsplit(" ", 1)
        total += int(samples)
        for function in set(stack.split(";")):
            seen[function] += int(samples)
    return seen, total


def changes(before, after):
    return significant(*counts(before), *counts(after))
