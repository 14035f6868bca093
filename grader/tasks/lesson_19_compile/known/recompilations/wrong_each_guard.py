"""A count of all guards gives this wrong answer. A message has one guard per earlier graph, but only one cause."""

import re

from baseline import cause


def recompilations(log):
    rows, function = {}, None
    for line in log:
        text = line.partition("[__recompiles] ")[2]
        if head := re.match(r"Recompiling function (\S+) in (.*)", text):
            function = (head[1], head[2])
        elif function and (guard := re.match(r"    - \d+/\d+: (.*)", text)):
            key = (*function, cause(guard[1].partition("  #")[0]))
            rows[key] = rows.get(key, 0) + 1
    return [[*key, number] for key, number in sorted(rows.items())]
