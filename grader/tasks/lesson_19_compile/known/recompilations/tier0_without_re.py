"""Splits each line with `partition`, without regular expressions.

Trade: Each step is simple, and reads the line only once. A small change in torch's format can break it.
"""

from collections import Counter


def recompilations(log):
    counts, key, newest, cause = Counter(), None, -1, ""
    for line in log:
        text = line.partition("[__recompiles] ")[2]
        if text.startswith("Recompiling function "):
            if key:
                counts[(*key, cause)] += 1
            function, _, place = text.removeprefix("Recompiling function ").partition(" in ")
            key, newest = (function, place), -1
        elif text.startswith("    - "):
            number, colon, guard = text[6:].partition(": ")
            graph = number.partition("/")[2]
            if colon and graph.isdigit() and int(graph) > newest:
                newest, cause = int(graph), of(guard.partition("  #")[0])
    if key:
        counts[(*key, cause)] += 1
    return [[*row, counts[row]] for row in sorted(counts)]


def of(guard):
    if guard.startswith("tensor '"):
        return guard.partition("' ")[2].partition(" mismatch")[0]
    if guard.startswith("GLOBAL_STATE changed"):
        return "mode"
    return "range" if ".size()[" in guard else "value"
