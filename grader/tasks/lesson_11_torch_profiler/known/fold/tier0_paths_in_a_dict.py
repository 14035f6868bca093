"""Keeps the boxes in a dict whose keys are their paths."""


def fold(stacks):
    widths = {}
    for frames, us in stacks:
        for depth in range(len(frames)):
            path = tuple(frames[: depth + 1])
            widths[path] = widths.get(path, 0) + us
    whole = [(tuple(frames), us) for frames, us in stacks if frames]
    return [
        [len(path) - 1, path[-1], sum([us for frames, us in whole if frames < path]), widths[path]]
        for path in sorted(widths)
    ]
