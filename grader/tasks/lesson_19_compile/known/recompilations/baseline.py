"""The newest graph of each message, found with regular expressions."""

import re


def recompilations(log):
    messages = []
    for line in log:
        if "[__recompiles] " not in line:
            continue
        text = line.split("[__recompiles] ", 1)[1]
        head = re.match(r"Recompiling function (\S+) in (.*)", text)
        if head:
            messages.append((head[1], head[2], []))
        else:
            guard = re.match(r"    - \d+/(\d+): (.*)", text)
            if guard:
                messages[-1][2].append((int(guard[1]), guard[2]))
    counts = {}
    for function, place, guards in messages:
        key = (function, place, cause(max(guards)[1]))
        counts[key] = counts.get(key, 0) + 1
    return [[*key, number] for key, number in sorted(counts.items())]


def cause(guard):
    guard = guard.split("  #")[0]
    found = re.match(r"tensor '.*' (\w+) mismatch", guard)
    if found:
        return found[1]
    if guard.startswith("GLOBAL_STATE"):
        return "mode"
    return "range" if ".size()[" in guard else "value"
