"""Writes down the change of each event, and adds up the changes until the peak.

Trade: It looks up each block only once. It keeps a list of all changes.
"""


def at_peak(events):
    blocks, changes = {}, []
    total = highest = end = 0
    for kind, address, n_bytes, name in events:
        if kind == "alloc":
            block = blocks[address] = (name, n_bytes)
        else:
            name, n_bytes = blocks.pop(address, ("", 0))
            block = (name, -n_bytes)
        changes.append(block)
        total += block[1]
        if total > highest:
            highest, end = total, len(changes)
    held = {}
    for name, change in changes[:end]:
        held[name] = held.get(name, 0) + change
    rows = [[name, size] for name, size in held.items() if size]
    rows.sort(key=lambda row: (-row[1], row[0]))
    return rows
