"""Keeps the callers of the current row on a stack."""


def own_time(stats):
    calls, own, cumulative = {}, {}, {}
    path = []
    for i, (depth, name, times, total) in enumerate(stats):
        del path[depth:]
        calls[name] = calls.get(name, 0) + times
        own[name] = own.get(name, 0) + total
        for j in range(i + 1, len(stats)):
            below, _, _, theirs = stats[j]
            if below <= depth:
                break
            if below == depth + 1:
                own[name] -= theirs
        if name not in path:
            cumulative[name] = cumulative.get(name, 0) + total
        path.append(name)
    return sorted(([name, calls[name], own[name], cumulative[name]] for name in own), key=lambda row: (-row[2], row[0]))
