"""Needs few instructions: packs the beginning, the length and the index of an event into one integer, which sorts
fastest.

Trade: One integer sorts faster than a tuple. The packing is hard to read, and all times must be integers.
"""


def self_times(trace):
    threads = {}
    for event in trace:
        if event.get("ph") == "X":
            key = event["pid"], event["tid"]
            if key in threads:
                threads[key].append(event)
            else:
                threads[key] = [event]

    calls = {}
    own = {}
    for events in threads.values():
        count = len(events)
        longest = max([event["dur"] for event in events])
        step = longest + 1
        keys = [(event["ts"] * step + longest - event["dur"]) * count + i for i, event in enumerate(events)]
        keys.sort()
        ends = []
        names = []
        for key in keys:
            event = events[key % count]
            start = event["ts"]
            duration = event["dur"]
            name = event["name"]
            while ends and ends[-1] <= start:
                ends.pop()
                names.pop()
            if ends:
                own[names[-1]] -= duration
            if name in calls:
                calls[name] += 1
                own[name] += duration
            else:
                calls[name] = 1
                own[name] = duration
            ends.append(start + duration)
            names.append(name)

    order = sorted([(-time, name) for name, time in own.items()])
    return [[name, calls[name], -minus] for minus, name in order]
