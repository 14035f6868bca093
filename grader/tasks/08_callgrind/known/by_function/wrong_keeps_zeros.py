"""Functions whose counts add up to zero are listed. In the difference of two counts that is nearly all of them, and what
changed drowns in what did not: leave them out."""


def by_function(lines):
    totals = {}
    for line in lines:
        count, name = line.split(" ", 1)
        totals[name] = totals.get(name, 0) + int(count)
    return sorted([[n, t] for n, t in totals.items()], key=lambda row: (-row[1], row[0]))
