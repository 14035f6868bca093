"""A different order of equal own times gives these wrong answers. Two profiles can be compared row by row only if equal
times have a fixed order. Sort equal times by name.
"""


def own_time(stats):
    found = {}
    path = []
    for depth, name, calls, total in stats:
        del path[depth:]
        row = found.setdefault(name, [name, 0, 0, 0])
        row[1] += calls
        row[2] += total
        if path:
            path[-1][2] -= total
        if row not in path:
            row[3] += total
        path.append(row)
    return sorted(found.values(), key=lambda row: -row[2])
