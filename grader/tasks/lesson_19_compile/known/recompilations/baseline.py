"""The newest graph of each message, found with regular expressions."""

import re
from collections import Counter


def recompilations(log):
    return counted((function, place, cause(max(guards)[1])) for function, place, guards in messages(log))


def messages(log):
    found = []
    for line in log:
        text = line.partition("[__recompiles] ")[2]
        if head := re.match(r"Recompiling function (\S+) in (.*)", text):
            found.append((head[1], head[2], []))
        elif guard := re.match(r"    - \d+/(\d+): (.*)", text):
            found[-1][2].append((int(guard[1]), guard[2]))
    return found


def counted(keys):
    return [[*key, number] for key, number in sorted(Counter(keys).items())]


def cause(guard):
    guard = guard.split("  #")[0]
    found = re.match(r"tensor '.*' (\w+) mismatch", guard)
    if found:
        return found[1]
    if guard.startswith("GLOBAL_STATE"):
        return "mode"
    return "range" if ".size()[" in guard else "value"
