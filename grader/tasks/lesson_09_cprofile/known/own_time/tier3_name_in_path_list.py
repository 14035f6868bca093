"""Keeps the path of names in a list that it cuts with del. Tests "name not in path" for recursion."""


def own_time(stats):
    calls_of, own, cumulative = {}, {}, {}
    path = []
    for depth, name, calls, total in stats:
        del path[depth:]
        if name not in calls_of:
            calls_of[name] = own[name] = cumulative[name] = 0
        calls_of[name] += calls
        own[name] += total
        if path:
            own[path[-1]] -= total
        if name not in path:
            cumulative[name] += total
        path.append(name)
    order = sorted(own.items(), key=lambda item: (-item[1], item[0]))
    return [[name, calls_of[name], time, cumulative[name]] for name, time in order]
