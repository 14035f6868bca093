"""Merges equal stacks first, then builds a tree.

Trade: No box must be closed. It adds the time of a stack to each of the stack's boxes.
"""


def fold(stacks):
    times = {}
    for frames, us in stacks:
        frames = tuple(frames)
        times[frames] = times.get(frames, 0) + us
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
            for row in path:
                row[3] += times[frames]
            now += times[frames]
    return rows
