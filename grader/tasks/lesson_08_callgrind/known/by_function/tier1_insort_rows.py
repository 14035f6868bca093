"""Keeps totals in a dict, and inserts each function with bisect.insort."""

from bisect import insort


def by_function(lines):
    totals = dict.fromkeys((line.partition(" ")[2] for line in lines), 0)
    for line in lines:
        number, _, name = line.partition(" ")
        totals[name] += int(number)

    ordered = []
    for name, total in totals.items():
        if total != 0:
            insort(ordered, (-total, name))
    return [[name, -negative] for negative, name in ordered]
