"""Goes along the time of each thread, and adds each interval to the innermost open event. Does not subtract.

Trade: It only adds, so no sum is negative in between. It handles each event twice: when it begins and when it ends.
"""

from collections import Counter, defaultdict


def self_times(trace):
    threads = defaultdict(list)
    for e in trace:
        if e.get("ph") == "X":
            threads[(e["pid"], e["tid"])].append(e)

    own = defaultdict(int)
    calls = Counter()
    for events in threads.values():
        events.sort(key=lambda e: (e["ts"], -e["dur"]))
        clock = 0
        stack = []
        for e in events:
            start = e["ts"]
            while stack and stack[-1][0] <= start:
                end, name = stack.pop()
                own[name] += end - clock
                clock = end
            if stack:
                own[stack[-1][1]] += start - clock
            clock = start
            stack.append((start + e["dur"], e["name"]))
            calls[e["name"]] += 1
        while stack:
            end, name = stack.pop()
            own[name] += end - clock
            clock = end

    return sorted(([n, c, own[n]] for n, c in calls.items()), key=lambda row: (-row[2], row[0]))
