"""Subtracting the totals of all rows below, not only of the rows one deeper, gives these wrong answers. The total of a
called row already includes the rows that it calls, so these are subtracted twice. Own times then become negative.
"""


def own_time(stats):
    found = {}
    path = []
    for depth, name, calls, total in stats:
        del path[depth:]
        row = found.setdefault(name, [name, 0, 0, 0])
        row[1] += calls
        row[2] += total
        if row not in path:
            row[3] += total
        for above in path:
            above[2] -= total
        path.append(row)
    return sorted(found.values(), key=lambda row: (-row[2], row[0]))
