"""Boxes as wide as their own time give these wrong answers. A box is as wide as all stacks that begin with its path,
because its frame was active during all of these.
"""


def fold(stacks):
    times = {}
    for frames, us in stacks:
        times[tuple(frames)] = times.get(tuple(frames), 0) + us
    rows, path, now = [], [], 0
    for frames in sorted(times):
        if frames:
            depth = 0
            while depth < len(path) and path[depth][1] == frames[depth]:
                depth += 1
            del path[depth:]
            for depth in range(depth, len(frames)):
                path.append([depth, frames[depth], now, 0])
                rows.append(path[-1])
            path[-1][3] += times[frames]
            now += times[frames]
    return rows
