"""Boxes as wide as their own time give these wrong answers. A box is as wide as all stacks that begin with its path,
because its frame was active during all of these.
"""


def fold(stacks):
    times = {}
    for frames, us in stacks:
        times[tuple(frames)] = times.get(tuple(frames), 0) + us
    return boxes(times.items(), lambda path: path[-1:])


def boxes(stacks, wider=lambda path: path):
    rows, path, now = [], [], 0
    for frames, us in sorted(stacks):
        if frames:
            depth = 0
            while depth < len(path) and path[depth][1] == frames[depth]:
                depth += 1
            path[depth:] = [[at, frames[at], now, 0] for at in range(depth, len(frames))]
            rows += path[depth:]
            for row in wider(path):
                row[3] += us
            now += us
    return rows
