"""The totals of all rows below were taken away, not only of those one deeper. But the total of a function that you called
holds what it called in turn, so that was taken away twice: own times come out below zero."""


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
