"""If an event begins when another event ends, it is not within that event. Treating it as within gives these wrong
answers. Remove an event from the stack when its end is at or before the beginning of the next event.
"""


def self_times(trace):
    return rows(trace, is_closed=lambda end, start: end < start)


def rows(
    trace,
    thread=lambda event: (event["pid"], event["tid"]),
    order=lambda event: event[:2],
    is_closed=lambda end, start: end <= start,
    outer=lambda path: path[-1:],
):
    threads, found = {}, {}
    for event in trace:
        if event["ph"] == "X":
            threads.setdefault(thread(event), []).append((event["ts"], -event["dur"], event["name"]))
    for events in threads.values():
        path = []
        for start, minus, name in sorted(events, key=order):
            while path and is_closed(path[-1][0], start):
                path.pop()
            for _, row in outer(path):
                row[2] += minus
            row = found.setdefault(name, [name, 0, 0])
            row[1] += 1
            row[2] -= minus
            path.append((start - minus, row))
    return sorted(found.values(), key=lambda row: (-row[2], row[0]))
