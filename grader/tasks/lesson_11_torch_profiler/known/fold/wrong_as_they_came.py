"""Boxes in the order of occurrence give these wrong answers. This is the order of a flame chart, where time goes from
left to right. A flame graph sorts boxes by name, so that two profiles of one program can be compared.
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
        for name, (width, above) in boxes.items():
            rows.append([depth, name, left, width])
            place(above, depth + 1, left + width - sum([each[0] for each in above.values()]))
            left += width

    place(root[1], 0, 0)
    return rows
