"""Boxes of the same name and depth were made one, whatever they stand on. A function that is called from two places has a box
on each of them: how much of it is due to which caller is what the picture is for."""


def fold(stacks):
    boxes = {}
    now = 0
    for frames, us in sorted((frames, us) for frames, us in stacks if frames):
        for depth, name in enumerate(frames):
            row = boxes.setdefault((depth, name), [depth, name, now, 0])
            row[3] += us
        now += us
    return list(boxes.values())
