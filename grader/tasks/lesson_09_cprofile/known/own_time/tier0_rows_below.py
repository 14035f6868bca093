"""For each row, searches the called rows below it and the callers above it."""


def own_time(stats):
    calls, own, cumulative = {}, {}, {}
    for i, (depth, name, times, total) in enumerate(stats):
        calls[name] = calls.get(name, 0) + times
        own[name] = own.get(name, 0) + total
        for below in stats[i + 1 :]:
            if below[0] <= depth:
                break
            if below[0] == depth + 1:
                own[name] -= below[3]
        outermost = True
        for above in reversed(stats[:i]):
            if above[0] < depth:
                depth = above[0]
                outermost = outermost and above[1] != name
        cumulative[name] = cumulative.get(name, 0) + (total if outermost else 0)
    return sorted(([name, calls[name], own[name], cumulative[name]] for name in own), key=lambda row: (-row[2], row[0]))
