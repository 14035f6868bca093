"""Sorts the events, and for each event searches all earlier events."""


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
            end, outer = start - minus, None
            for ts, minus_dur, whose in events[:i]:
                if ts - minus_dur >= end:
                    outer = whose
            if outer:
                own[outer] += minus
    return sorted(([name, calls[name], own[name]] for name in calls), key=lambda row: (-row[2], row[0]))
