"""Goes through all boxes for each frame of each stack."""


def fold(stacks):
    paths = []
    widths = []
    for frames, us in stacks:
        for depth in range(len(frames)):
            path = frames[: depth + 1]
            place = -1
            for i in range(len(paths)):
                if paths[i] == path:
                    place = i
                    break
            if place < 0:
                paths.append(path)
                widths.append(us)
            else:
                widths[place] = widths[place] + us
    rows = []
    for path, width in sorted(zip(paths, widths)):
        left = 0
        for frames, us in stacks:
            if len(frames) > 0 and frames < path:
                left = left + us
        rows.append([len(path) - 1, path[-1], left, width])
    return rows
