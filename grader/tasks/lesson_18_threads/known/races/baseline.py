"""Each pair of accesses, with the locks counted again for each access: right and slow."""


def races(events):
    found = pairs(events)
    return rows(
        events, [(p, q) for p, q in found if not held(events, p) & held(events, q) and not ordered(events, p, q)]
    )


def pairs(events, actions=("write", "read")):
    return [
        (p, q)
        for q, (thread, action, name) in enumerate(events)
        for p, (other, before, same) in enumerate(events[:q])
        if name == same and thread != other and {action, before} in ({"write"}, set(actions))
    ]


def held(events, end):
    count = {}
    for thread, action, name in events[:end]:
        if thread == events[end][0] and action in ("acquire", "release"):
            count[name] = count.get(name, 0) + (1 if action == "acquire" else -1)
    return {name for name in count if count[name] > 0}


def ordered(events, p, q):
    first, second = events[p][0], events[q][0]
    if first == "main":
        return ["main", "start", second] in events[p:q]
    if second == "main":
        return ["main", "join", first] in events[p:q]
    if ["main", "join", first] not in events:
        return False
    return ["main", "start", second] in events[events.index(["main", "join", first]) :]


def rows(events, found):
    return [list(row) for row in sorted({(events[p][2], *sorted((events[p][0], events[q][0]))) for p, q in found})]
