"""Boxes were put at the left edge of the box that they stand on, and its own time to the right of them. Own time comes first
here: that is what comes about when stacks are sorted, for the shorter of two that begin alike is the smaller one."""


def fold(stacks):
    root = [0, {}]
    for frames, us in stacks:
        box = root
        for frame in frames:
            box = box[1].setdefault(frame, [0, {}])
            box[0] += us
    rows = []

    def place(boxes, depth, left):
        for name in sorted(boxes):
            width, above = boxes[name]
            rows.append([depth, name, left, width])
            place(above, depth + 1, left)
            left += width

    place(root[1], 0, 0)
    return rows
