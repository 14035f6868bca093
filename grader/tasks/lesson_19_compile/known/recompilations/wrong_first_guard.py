"""The first guard of each message gives this wrong answer. The lines come in any order: use the highest number."""

import re


def recompilations(log):
    rows, waiting = {}, None
    for line in log:
        text = line.partition("[__recompiles] ")[2]
        if head := re.match(r"Recompiling function (\S+) in (.*)", text):
            waiting = (head[1], head[2])
        elif waiting and (guard := re.match(r"    - \d+/\d+: (.*)", text)):
            key = (*waiting, cause(guard[1].partition("  #")[0]))
            rows[key] = rows.get(key, 0) + 1
            waiting = None
    return [[*key, number] for key, number in sorted(rows.items())]


def cause(guard):
    if found := re.match(r"tensor '.*?' (\w+) mismatch", guard):
        return found[1]
    return "mode" if guard.startswith("GLOBAL_STATE") else "range" if ".size()[" in guard else "value"
