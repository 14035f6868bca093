"""Passes the sorted events to an object for each (pid, tid), which keeps two parallel lists."""

from functools import cmp_to_key


class Thread:
    def __init__(self, table):
        self.table = table
        self.ends = []
        self.rows = []

    def feed(self, name, start, duration):
        while self.ends and self.ends[-1] <= start:
            self.ends.pop()
            self.rows.pop()
        row = self.table.setdefault(name, [name, 0, 0])
        row[1] += 1
        row[2] += duration
        if self.rows:
            self.rows[-1][2] -= duration
        self.ends.append(start + duration)
        self.rows.append(row)


def earlier(a, b):
    if a["ts"] != b["ts"]:
        return -1 if a["ts"] < b["ts"] else 1
    return b["dur"] - a["dur"]


def self_times(trace):
    table = {}
    threads = {}
    complete = filter(lambda event: event.get("ph") == "X", trace)
    for event in sorted(complete, key=cmp_to_key(earlier)):
        key = event["pid"], event["tid"]
        if key not in threads:
            threads[key] = Thread(table)
        threads[key].feed(event["name"], event["ts"], event["dur"])
    return sorted(table.values(), key=lambda row: (-row[2], row[0]))
