"""Rows of the same total came out in whatever order their functions were met in, or backwards. Two counts of one program
can only be compared line by line when equal totals have an order too: that of their names."""


def by_function(lines):
    totals = {}
    for line in lines:
        count, name = line.split(" ", 1)
        totals[name] = totals.get(name, 0) + int(count)
    return sorted([[n, t] for n, t in totals.items() if t], key=lambda row: -row[1])
