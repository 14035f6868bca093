"""Makes a begin marker and an end marker of every event, sorts the markers, and keeps open events on a stack.

Trade: Each marker is simple to handle. It sorts two markers per event.
"""

from collections import Counter, defaultdict

END, BEGIN = 0, 1  # at equal times, an end comes before a beginning


def self_times(trace):
    calls, own = Counter(), Counter()
    markers = defaultdict(list)
    for position, event in enumerate(trace):
        if event.get("ph") != "X":
            continue
        name, start, duration = event["name"], event["ts"], event["dur"]
        calls[name] += 1
        own[name] += duration
        if duration > 0:  # an event without duration subtracts nothing
            thread = markers[event["pid"], event["tid"]]
            thread.append((start, BEGIN, -duration, position, name))
            thread.append((start + duration, END, 0, 0, ""))

    for thread in markers.values():
        thread.sort()
        stack = []
        for _, kind, minus, _, name in thread:
            if kind == END:
                stack.pop()
            else:
                if stack:
                    own[stack[-1]] += minus
                stack.append(name)

    return sorted(([name, calls[name], own[name]] for name in calls), key=lambda row: (-row[2], row[0]))
