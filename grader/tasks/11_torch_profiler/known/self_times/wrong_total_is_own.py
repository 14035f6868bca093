"""The durations were added up as they are: that is total time. At its top stands what everything else lies within, and it
hardly does anything itself. Own time is what the events within leave of a duration."""


def self_times(trace):
    rows = {}
    for event in trace:
        if event["ph"] == "X":
            row = rows.setdefault(event["name"], [event["name"], 0, 0])
            row[1] += 1
            row[2] += event["dur"]
    return sorted(rows.values(), key=lambda row: (-row[2], row[0]))
