"""Finds the position of the peak first, and then goes through the events up to it once more."""


def at_peak(events):
    sizes = {}
    total = highest = end = 0
    for number, (kind, address, n_bytes, _) in enumerate(events, start=1):
        if kind == "alloc":
            sizes[address] = n_bytes
            total += n_bytes
            if total > highest:
                highest, end = total, number
        else:
            total -= sizes.pop(address, 0)
    blocks = {}
    for kind, address, n_bytes, name in events[:end]:
        if kind == "alloc":
            blocks[address] = (name, n_bytes)
        else:
            blocks.pop(address, None)
    held = {}
    for name, n_bytes in blocks.values():
        held[name] = held.get(name, 0) + n_bytes
    return sorted(([name, size] for name, size in held.items()), key=lambda row: (-row[1], row[0]))
