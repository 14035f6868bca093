"""Keeping functions whose total is zero gives these wrong answers. In the difference of two counts most totals are
zero, and such rows hide the changes. Leave them out.
"""


def by_function(lines):
    totals = {}
    for line in lines:
        count, name = line.split(" ", 1)
        totals[name] = totals.get(name, 0) + int(count)
    return sorted([[n, t] for n, t in totals.items()], key=lambda row: (-row[1], row[0]))
