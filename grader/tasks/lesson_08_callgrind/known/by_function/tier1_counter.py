"""Adds up in a Counter."""

from collections import Counter


def by_function(lines):
    totals = Counter()
    for line in lines:
        count, name = line.split(" ", 1)
        totals[name] += int(count)
    rows = [[name, total] for name, total in totals.items() if total]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
