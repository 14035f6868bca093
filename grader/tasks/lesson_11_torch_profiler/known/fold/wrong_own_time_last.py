"""Putting own time to the right of the boxes gives these wrong answers. Own time comes first, on the left. Of two
sorted stacks with the same beginning, the shorter comes first.
"""


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
