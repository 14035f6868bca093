"""Finds a name with list.index."""


def by_function(lines):
    names = []
    totals = []
    for line in lines:
        count, name = line.split(" ", 1)
        if name in names:
            totals[names.index(name)] += int(count)
        else:
            names.append(name)
            totals.append(int(count))
    rows = [[name, total] for name, total in zip(names, totals) if total]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
