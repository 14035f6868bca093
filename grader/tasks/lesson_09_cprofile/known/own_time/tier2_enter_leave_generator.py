"""Makes enter and leave events from the rows with a generator. Keeps a stack and the names of open functions.

Trade: The generator finds the order of calls, and the other function adds up, so each part is simple. Each event
takes additional time.
"""

from collections import Counter


def events(stats):
    path = []
    for depth, name, calls, total in stats:
        while len(path) > depth:
            yield "leave", path.pop(), 0, 0
        yield "enter", name, calls, total
        path.append(name)
    while path:
        yield "leave", path.pop(), 0, 0


def own_time(stats):
    count, own, cumulative, running = Counter(), Counter(), Counter(), Counter()
    stack = []
    for kind, name, calls, total in events(stats):
        if kind == "leave":
            stack.pop()
            running[name] -= 1
            continue
        count[name] += calls
        own[name] += total
        if stack:
            own[stack[-1]] -= total
        if not running[name]:
            cumulative[name] += total
        running[name] += 1
        stack.append(name)
    return [
        [name, count[name], own[name], cumulative[name]] for name in sorted(own, key=lambda name: (-own[name], name))
    ]
