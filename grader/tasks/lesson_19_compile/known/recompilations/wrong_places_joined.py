"""Counting by name alone gives this wrong answer. Functions with the same name in two places are two functions."""

import re

from baseline import cause


def recompilations(log):
    newest, highest, places = [], -1, {}
    for line in log:
        text = line.partition("[__recompiles] ")[2]
        if head := re.match(r"Recompiling function (\S+) in (.*)", text):
            newest.append([head[1], places.setdefault(head[1], head[2]), ""])
            highest = -1
        elif (guard := re.match(r"    - \d+/(\d+): (.*)", text)) and int(guard[1]) > highest:
            highest = int(guard[1])
            newest[-1][2] = cause(guard[2].partition("  #")[0])
    rows = {}
    for row in newest:
        rows[tuple(row)] = rows.get(tuple(row), 0) + 1
    return [[*key, number] for key, number in sorted(rows.items())]
