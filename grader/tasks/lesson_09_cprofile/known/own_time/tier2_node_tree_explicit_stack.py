"""Builds a tree of node objects, then visits it with a stack of enter and leave steps.

Trade: A tree can also answer other questions about the calls. It makes an object for each row, and visits all rows
twice.
"""


class Node:
    __slots__ = ("name", "calls", "total", "children")

    def __init__(self, name, calls, total):
        self.name = name
        self.calls = calls
        self.total = total
        self.children = []


def build(stats):
    root = Node(None, 0, 0)
    path = [root]
    for depth, name, calls, total in stats:
        node = Node(name, calls, total)
        del path[depth + 1 :]
        path[depth].children.append(node)
        path.append(node)
    return root


def own_time(stats):
    rows = {}
    active = set()
    steps = [(node, True) for node in build(stats).children]
    while steps:
        node, entering = steps.pop()
        if not entering:
            active.discard(node.name)
            continue
        row = rows.setdefault(node.name, [node.name, 0, 0, 0])
        row[1] += node.calls
        row[2] += node.total - sum(child.total for child in node.children)
        if node.name not in active:
            row[3] += node.total
            active.add(node.name)
            steps.append((node, False))
        for child in node.children:
            steps.append((child, True))
    return sorted(rows.values(), key=lambda row: (-row[2], row[0]))
