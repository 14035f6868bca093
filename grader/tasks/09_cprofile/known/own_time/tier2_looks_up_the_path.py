def own_time(stats):
    calls, own, cumulative = {}, {}, {}
    path = []
    for depth, name, times, total in stats:
        while len(path) > depth:
            path.pop()
        calls[name] = calls.get(name, 0) + times
        own[name] = own.get(name, 0) + total
        if path:
            own[path[-1]] = own[path[-1]] - total
        outermost = True
        for above in path:
            if above == name:
                outermost = False
        if outermost:
            cumulative[name] = cumulative.get(name, 0) + total
        path.append(name)
    return sorted(([name, calls[name], own[name], cumulative[name]] for name in own), key=lambda row: (-row[2], row[0]))
