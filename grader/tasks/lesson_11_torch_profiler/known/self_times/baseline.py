"""Searches the outer event of each event among all events."""


def self_times(trace):
    events = []
    for event in trace:
        if event["ph"] == "X":
            events.append(event)
    own = []
    for event in events:
        own.append(event["dur"])
    for i in range(len(events)):
        outer = None
        for j in range(len(events)):
            if i == j or events[i]["pid"] != events[j]["pid"] or events[i]["tid"] != events[j]["tid"]:
                continue
            if events[j]["ts"] > events[i]["ts"]:
                continue
            if events[j]["ts"] + events[j]["dur"] < events[i]["ts"] + events[i]["dur"]:
                continue
            if events[j]["dur"] == events[i]["dur"] and j > i:
                continue
            if outer is None or events[j]["dur"] <= events[outer]["dur"]:
                outer = j
        if outer is not None:
            own[outer] = own[outer] - events[i]["dur"]
    names = []
    for event in events:
        if event["name"] not in names:
            names.append(event["name"])
    rows = []
    for name in names:
        calls = 0
        total = 0
        for i in range(len(events)):
            if events[i]["name"] == name:
                calls = calls + 1
                total = total + own[i]
        rows.append([name, calls, total])
    return sorted(rows, key=lambda row: (-row[2], row[0]))
