"""Keeps a copy of the blocks in use at the newest peak, and adds them up at the end."""

from collections import defaultdict


def at_peak(events):
    blocks, at_best = {}, []
    total = highest = 0
    for event in events:
        if event[0] == "alloc":
            blocks[event[1]] = event
            total += event[2]
            if total > highest:
                highest, at_best = total, list(blocks.values())
        else:
            old = blocks.pop(event[1], None)
            if old:
                total -= old[2]
    held = defaultdict(int)
    for _, _, n_bytes, name in at_best:
        held[name] += n_bytes
    return [[name, held[name]] for name in sorted(held, key=lambda each: (-held[each], each))]
