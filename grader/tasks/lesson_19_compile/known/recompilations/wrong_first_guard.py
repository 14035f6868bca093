"""The first guard of each message gives this wrong answer. The lines come in any order: use the highest number."""

import re

from baseline import cause


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
