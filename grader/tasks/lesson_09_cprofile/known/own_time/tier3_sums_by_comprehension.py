"""Makes a list of (name, calls, own, cumulative), one per row. Sorts it by name, and sums each group with groupby.

Trade: The sums run in C. It keeps a list of all rows, and sorts this list by name.
"""

from itertools import groupby
from operator import itemgetter


def own_time(stats):
    children = [0] * len(stats)
    cumulative = []
    path = []
    open_names = set()
    first = []  # whether the row at this depth has put its name into open_names
    for i, (depth, name, calls, total) in enumerate(stats):
        while len(path) > depth:
            gone = path.pop()
            if first.pop():
                open_names.remove(stats[gone][1])
        if path:
            children[path[-1]] += total
        path.append(i)
        outer = name not in open_names
        first.append(outer)
        open_names.add(name)
        cumulative.append(total if outer else 0)

    places = [
        (name, calls, total - below, whole)
        for (_, name, calls, total), below, whole in zip(stats, children, cumulative)
    ]
    places.sort(key=itemgetter(0))
    rows = []
    for name, group in groupby(places, key=itemgetter(0)):
        _, calls, own, whole = zip(*group)
        rows.append([name, sum(calls), sum(own), sum(whole)])
    return sorted(rows, key=itemgetter(2), reverse=True)
