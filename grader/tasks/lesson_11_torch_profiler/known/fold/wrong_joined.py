"""Joining the frames of a stack to one text gives these wrong answers. A name may contain the separator, so two frames
and one frame can look the same. Use a tuple of names as a key.
"""


def fold(stacks):
    times = {}
    for frames, us in stacks:
        times[";".join(frames)] = times.get(";".join(frames), 0) + us
    rows, path, now = [], [], 0
    for frames, us in sorted((text.split(";"), us) for text, us in times.items() if text):
        depth = 0
        while depth < len(path) and path[depth][1] == frames[depth]:
            depth += 1
        del path[depth:]
        for depth in range(depth, len(frames)):
            path.append([depth, frames[depth], now, 0])
            rows.append(path[-1])
        for row in path:
            row[3] += us
        now += us
    return rows
