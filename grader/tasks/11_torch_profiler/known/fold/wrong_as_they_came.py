"""Boxes on the same box came in the order in which they were met. That is the order of a flame chart, where left to right is
time. In a flame graph it is the names': so that two profiles of one program can be laid beside each other."""


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
