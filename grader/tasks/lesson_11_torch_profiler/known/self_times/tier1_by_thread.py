"""Groups events by thread, and searches within a thread."""


def self_times(trace):
    threads = {}
    for event in trace:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"], event["name"]))
    calls, own = {}, {}
    for events in threads.values():
        for i, (start, length, name) in enumerate(events):
            calls[name] = calls.get(name, 0) + 1
            own[name] = own.get(name, 0) + length
            end, outer = start + length, None
            for j, (ts, dur, whose) in enumerate(events):
                if ts <= start and end <= ts + dur and (dur > length or j < i) and (outer is None or dur <= outer[0]):
                    outer = dur, whose
            if outer:
                own[outer[1]] = own.get(outer[1], 0) - length
    return sorted(([name, calls[name], own[name]] for name in calls), key=lambda row: (-row[2], row[0]))
