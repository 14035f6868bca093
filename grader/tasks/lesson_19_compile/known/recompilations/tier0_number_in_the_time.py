"""Reads the number of the new graph at the beginning of a message. The newest earlier graph has one less.

Trade: It needs no search for the highest number. It relies on a part of the line that the task does not explain.
"""

import re

from baseline import cause

HEAD = re.compile(r"\[\d+/(\d+)\] \[__recompiles\] Recompiling function (\S+) in (.*)$")


def recompilations(log):
    counts = {}
    newest = key = None
    for line in log:
        head = HEAD.search(line)
        if head:
            newest, key = int(head[1]) - 1, (head[2], head[3])
            continue
        guard = re.search(rf"\[__recompiles\]     - \d+/{newest}: (.*)", line) if key else None
        if guard:
            counts.setdefault((*key, cause(guard[1])), []).append(line)
    return sorted([*key, len(lines)] for key, lines in counts.items())
