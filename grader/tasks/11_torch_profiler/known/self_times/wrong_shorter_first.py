"""Events that begin at the same time were sorted by anything but their durations. The first operator within another often
begins with it: the longer of the two is the outer one, and has to be met first."""


def self_times(trace):
    threads, rows = {}, {}
    for event in trace:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"], event["name"]))
    for events in threads.values():
        path = []
        for start, length, name in sorted(events):
            while path and path[-1][0] <= start:
                path.pop()
            if path:
                path[-1][1][2] -= length
            row = rows.setdefault(name, [name, 0, 0])
            row[1] += 1
            row[2] += length
            path.append((start + length, row))
    return sorted(rows.values(), key=lambda row: (-row[2], row[0]))
