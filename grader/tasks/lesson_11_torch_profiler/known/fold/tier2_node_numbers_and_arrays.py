"""Gives each box a number. A dict with keys (number of the box below, name) finds a box. Lists hold depths, widths and
own times.
"""


def fold(stacks):
    number = {}
    name_of, depth_of, width, own, above = [""], [-1], [0], [0], [[]]
    for frames, us in stacks:
        node = 0
        for name in frames:
            key = node, name
            if key not in number:
                number[key] = len(name_of)
                above[node].append(len(name_of))
                depth_of.append(depth_of[node] + 1)
                name_of.append(name)
                width.append(0)
                own.append(0)
                above.append([])
            node = number[key]
            width[node] += us
        own[node] += us
    own[0] = 0

    rows = []
    left = [0] * len(name_of)
    todo = [0]
    while todo:
        node = todo.pop()
        if node:
            rows.append([depth_of[node], name_of[node], left[node], width[node]])
        above[node].sort(key=name_of.__getitem__)
        place = left[node] + own[node]
        for child in above[node]:
            left[child] = place
            place += width[child]
        todo.extend(reversed(above[node]))
    return rows
