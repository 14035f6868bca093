"""Builds a tree of all stacks."""


def fold(stacks):
    root = [0, {}]
    for frames, us in stacks:
        box = root
        for frame in frames:
            if frame not in box[1]:
                box[1][frame] = [0, {}]
            box = box[1][frame]
            box[0] += us
    rows = []

    def place(boxes, depth, left):
        for name in sorted(boxes):
            width, above = boxes[name]
            rows.append([depth, name, left, width])
            place(above, depth + 1, left + width - sum([each[0] for each in above.values()]))
            left += width

    place(root[1], 0, 0)
    return rows
