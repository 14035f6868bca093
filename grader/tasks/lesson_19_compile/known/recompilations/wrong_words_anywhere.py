"""A search for "size mismatch" anywhere gives this wrong answer. A guard on a value can contain these words, too."""

import re


def recompilations(log):
    newest, highest = [], -1
    for line in log:
        text = line.partition("[__recompiles] ")[2]
        if head := re.match(r"Recompiling function (\S+) in (.*)", text):
            newest.append([head[1], head[2], ""])
            highest = -1
        elif (guard := re.match(r"    - \d+/(\d+): (.*)", text)) and int(guard[1]) > highest:
            highest = int(guard[1])
            newest[-1][2] = cause(guard[2].partition("  #")[0])
    rows = {}
    for row in newest:
        rows[tuple(row)] = rows.get(tuple(row), 0) + 1
    return [[*key, number] for key, number in sorted(rows.items())]


def cause(guard):
    if found := re.search(r"(\w+) mismatch", guard):
        return found[1]
    return "mode" if guard.startswith("GLOBAL_STATE") else "range" if ".size()[" in guard else "value"
