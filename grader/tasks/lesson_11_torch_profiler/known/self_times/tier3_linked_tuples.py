"""Keeps the open events of each thread as nested tuples (end, row, outer) instead of a list."""

from collections import defaultdict


def self_times(trace):
    groups = defaultdict(list)
    for event in trace:
        if event.get("ph") == "X":
            groups[event["pid"], event["tid"]].append(event)

    rows = {}
    for group in groups.values():
        inner = None
        for event in sorted(group, key=lambda e: (e["ts"], -e["dur"])):
            start, duration, name = event["ts"], event["dur"], event["name"]
            while inner and inner[0] <= start:
                inner = inner[2]
            if inner:
                inner[1][2] -= duration
            try:
                row = rows[name]
            except KeyError:
                row = rows[name] = [name, 0, 0]
            row[1] += 1
            row[2] += duration
            inner = start + duration, row, inner
    return sorted(rows.values(), key=lambda row: (-row[2], row[0]))
