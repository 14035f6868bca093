"""Keeps the open events on a stack."""


def self_times(trace):
    events = [event for event in trace if event["ph"] == "X"]
    events.sort(key=lambda event: (str(event["pid"]), str(event["tid"]), event["ts"], -event["dur"]))
    rows, thread, path = {}, None, []
    for event in events:
        name, start, length = event["name"], event["ts"], event["dur"]
        if thread != (event["pid"], event["tid"]):
            thread, path = (event["pid"], event["tid"]), []
        while path and path[-1][0] <= start:
            path.pop()
        if path:
            path[-1][1][2] -= length
        row = rows.setdefault(name, [name, 0, 0])
        row[1] += 1
        row[2] += length
        path.append((start + length, row))
    return sorted(rows.values(), key=lambda row: (-row[2], row[0]))
