"""One box for each name and depth gives these wrong answers. A function with two callers has a box on each of them. The
picture must show its time separately for each caller.
"""


def fold(stacks):
    boxes = {}
    now = 0
    for frames, us in sorted((frames, us) for frames, us in stacks if frames):
        for depth, name in enumerate(frames):
            row = boxes.setdefault((depth, name), [depth, name, now, 0])
            row[3] += us
        now += us
    return list(boxes.values())
