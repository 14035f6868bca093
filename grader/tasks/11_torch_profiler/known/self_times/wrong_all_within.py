"""Everything that lies within an event was taken away from it, not only what lies directly within. But the duration of an
event within holds what is within that in turn, so that was taken away twice: own times come out below zero."""


def self_times(trace):
    threads, rows = {}, {}
    for event in trace:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], -event["dur"], event["name"]))
    for events in threads.values():
        path = []
        for start, minus, name in sorted(events, key=lambda event: event[:2]):
            while path and path[-1][0] <= start:
                path.pop()
            for _, outer in path:
                outer[2] += minus
            row = rows.setdefault(name, [name, 0, 0])
            row[1] += 1
            row[2] -= minus
            path.append((start - minus, row))
    return sorted(rows.values(), key=lambda row: (-row[2], row[0]))
