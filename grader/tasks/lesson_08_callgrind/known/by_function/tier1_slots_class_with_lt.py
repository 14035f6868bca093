"""Uses a small class with __slots__, whose __lt__ defines the order for sorted."""


class Entry:
    __slots__ = ("name", "total")

    def __init__(self, name):
        self.name = name
        self.total = 0

    def __lt__(self, other):
        if self.total != other.total:
            return self.total > other.total
        return self.name < other.name


def by_function(lines):
    entries = {}
    for line in lines:
        number, name = line.split(" ", 1)
        entry = entries.get(name)
        if entry is None:
            entry = entries[name] = Entry(name)
        entry.total += int(number)
    return [[entry.name, entry.total] for entry in sorted(entries.values()) if entry.total]
