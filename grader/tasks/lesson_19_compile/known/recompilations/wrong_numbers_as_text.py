"""A comparison of the graphs' numbers as text gives this wrong answer: "9" is larger than "10". Use int(number)."""

import re

from baseline import cause


def recompilations(log):
    newest, highest = [], ""
    for line in log:
        text = line.partition("[__recompiles] ")[2]
        if head := re.match(r"Recompiling function (\S+) in (.*)", text):
            newest.append([head[1], head[2], ""])
            highest = ""
        elif (guard := re.match(r"    - \d+/(\d+): (.*)", text)) and guard[1] > highest:
            highest = guard[1]
            newest[-1][2] = cause(guard[2].partition("  #")[0])
    rows = {}
    for row in newest:
        rows[tuple(row)] = rows.get(tuple(row), 0) + 1
    return [[*key, number] for key, number in sorted(rows.items())]
