"""Adding up whole durations gives these wrong answers. The sum is the total time, which is largest for the outermost
event. Own time is the duration minus the durations of the events directly within.
"""


def self_times(trace):
    rows = {}
    for event in trace:
        if event["ph"] == "X":
            row = rows.setdefault(event["name"], [event["name"], 0, 0])
            row[1] += 1
            row[2] += event["dur"]
    return sorted(rows.values(), key=lambda row: (-row[2], row[0]))
