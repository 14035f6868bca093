"""Putting own time to the right of the boxes gives these wrong answers. Own time comes first, on the left. Of two
sorted stacks with the same beginning, the shorter comes first.
"""


def fold(stacks):
    return placed(stacks, sorted, lambda width, above: 0)


def placed(stacks, ordered, own):
    root = [0, {}]
    for frames, us in stacks:
        box = root
        for frame in frames:
            box = box[1].setdefault(frame, [0, {}])
            box[0] += us
    rows = []

    def place(boxes, depth, left):
        for name in ordered(boxes):
            width, above = boxes[name]
            rows.append([depth, name, left, width])
            place(above, depth + 1, left + own(width, above))
            left += width

    place(root[1], 0, 0)
    return rows
