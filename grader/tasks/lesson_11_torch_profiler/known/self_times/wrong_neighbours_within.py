"""If an event begins when another event ends, it is not within that event. Treating it as within gives these wrong
answers. Remove an event from the stack when its end is at or before the beginning of the next event.
"""


def self_times(trace):
    threads, rows = {}, {}
    for event in trace:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], -event["dur"], event["name"]))
    for events in threads.values():
        path = []
        for start, minus, name in sorted(events, key=lambda event: event[:2]):
            while path and path[-1][0] < start:
                path.pop()
            if path:
                path[-1][1][2] += minus
            row = rows.setdefault(name, [name, 0, 0])
            row[1] += 1
            row[2] -= minus
            path.append((start - minus, row))
    return sorted(rows.values(), key=lambda row: (-row[2], row[0]))
