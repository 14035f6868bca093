"""Looks back from each event to the nearest event that contains it.

Trade: It needs no stack. It looks at closed events again, so it is slow after many short events.
"""


def self_times(trace):
    threads = {}
    for event in trace:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], -event["dur"], event["name"]))
    calls, own = {}, {}
    for events in threads.values():
        events.sort(key=lambda event: event[:2])
        for i, (start, minus, name) in enumerate(events):
            calls[name] = calls.get(name, 0) + 1
            own[name] = own.get(name, 0) - minus
            for j in range(i - 1, -1, -1):
                ts, minus_dur, whose = events[j]
                if start - minus <= ts - minus_dur:
                    own[whose] += minus
                    break
    return sorted(([name, calls[name], own[name]] for name in calls), key=lambda row: (-row[2], row[0]))
