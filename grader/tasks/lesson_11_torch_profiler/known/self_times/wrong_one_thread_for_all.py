"""Treating all threads as one gives these wrong answers. Events of two threads may overlap freely, and an event of
another thread is not a caller. Group by both pid and tid.
"""


def self_times(trace):
    rows, path = {}, []
    events = [(event["ts"], -event["dur"], event["name"]) for event in trace if event["ph"] == "X"]
    for start, minus, name in sorted(events, key=lambda event: event[:2]):
        while path and path[-1][0] <= start:
            path.pop()
        if path:
            path[-1][1][2] += minus
        row = rows.setdefault(name, [name, 0, 0])
        row[1] += 1
        row[2] -= minus
        path.append((start - minus, row))
    return sorted(rows.values(), key=lambda row: (-row[2], row[0]))
