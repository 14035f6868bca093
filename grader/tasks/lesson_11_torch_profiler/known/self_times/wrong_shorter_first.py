"""Sorting only by beginnings gives these wrong answers. Often an inner event begins together with its outer event. Sort
the longer event first.
"""


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
