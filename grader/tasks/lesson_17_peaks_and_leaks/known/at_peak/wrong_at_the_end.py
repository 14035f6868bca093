"""Returning the memory that is in use after the last event gives these wrong answers. That memory shows leaks. The peak
may have been earlier.
"""


def at_peak(events):
    blocks = {}
    for kind, address, n_bytes, name in events:
        if kind == "alloc":
            blocks[address] = (name, n_bytes)
        else:
            blocks.pop(address, None)
    held = {}
    for name, n_bytes in blocks.values():
        held[name] = held.get(name, 0) + n_bytes
    return sorted(([name, size] for name, size in held.items()), key=lambda row: (-row[1], row[0]))
