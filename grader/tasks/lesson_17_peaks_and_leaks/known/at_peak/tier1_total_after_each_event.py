"""Adds up all blocks in use after each event, and goes through the events again for the functions."""


def at_peak(events):
    blocks = {}
    peak, highest = -1, 0
    for number, (kind, address, n_bytes, _) in enumerate(events):
        if kind == "alloc":
            blocks[address] = n_bytes
        elif address in blocks:
            del blocks[address]
        total = 0
        for size in blocks.values():
            total += size
        if total > highest:
            peak, highest = number, total
    owners = {}
    for kind, address, n_bytes, name in events[: peak + 1]:
        if kind == "alloc":
            owners[address] = (name, n_bytes)
        else:
            owners.pop(address, None)
    held = {}
    for name, n_bytes in owners.values():
        held[name] = held.get(name, 0) + n_bytes
    return [[name, held[name]] for name in sorted(held, key=lambda each: (-held[each], each))]
