"""Subtracting all events within an event, not only the events directly within it, gives these wrong answers. The
duration of an inner event already includes the events within it, so these are subtracted twice. Own times then become
negative.
"""


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
