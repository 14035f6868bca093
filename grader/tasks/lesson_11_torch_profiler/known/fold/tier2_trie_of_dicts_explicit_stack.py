"""Builds a tree of nodes [own, width, children], where children is a dict. Visits it with an explicit stack."""


def fold(stacks):
    root = [0, 0, {}]
    for frames, us in stacks:
        node = root
        for name in frames:
            children = node[2]
            if name not in children:
                children[name] = [0, 0, {}]
            node = children[name]
            node[1] += us
        node[0] += us

    rows = []
    root[0] = 0  # stacks without frames take no space
    todo = [(-1, "", 0, root)]
    while todo:
        depth, name, left, (own, width, children) = todo.pop()
        if depth >= 0:
            rows.append([depth, name, left, width])
        left += own
        above = []
        for child in sorted(children):
            above.append((depth + 1, child, left, children[child]))
            left += children[child][1]
        todo.extend(reversed(above))
    return rows
