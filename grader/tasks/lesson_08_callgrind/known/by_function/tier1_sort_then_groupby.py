"""Sorts the split lines by name, sums each group of equal names with groupby, and sorts the sums.

Trade: It needs no dict, and works well if the lines are sorted already. It sorts all lines and not only the functions.
"""

from itertools import groupby
from operator import itemgetter


def by_function(lines):
    name_of = itemgetter(2)
    parts = sorted((line.partition(" ") for line in lines), key=name_of)
    rows = []
    for name, group in groupby(parts, key=name_of):
        total = sum(int(part[0]) for part in group)
        if total:
            rows.append([name, total])
    # the rows are sorted by name already, and sorting is stable
    return sorted(rows, key=itemgetter(1), reverse=True)
