"""A different order of equal totals gives these wrong answers. Two counts can be compared line by line only if equal
totals have a fixed order. Sort equal totals by name.
"""


def by_function(lines):
    totals = {}
    for line in lines:
        count, name = line.split(" ", 1)
        totals[name] = totals.get(name, 0) + int(count)
    return sorted([[n, t] for n, t in totals.items() if t], key=lambda row: -row[1])
