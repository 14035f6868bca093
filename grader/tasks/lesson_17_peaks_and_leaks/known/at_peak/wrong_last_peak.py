"""Taking the last of several equal peaks gives these wrong answers. Compare with > instead of >=, so that the first peak
counts.
"""


def at_peak(events):
    return ordered(max(reversed([{}, *held_after_each(events)]), key=lambda held: sum(held.values())))


def held_after_each(events):
    blocks, held = {}, {}
    for kind, address, n_bytes, name in events:
        if kind == "alloc":
            blocks[address] = (n_bytes, name)
            held[name] = held.get(name, 0) + n_bytes
            yield dict(held)
        elif address in blocks:
            size, owner = blocks.pop(address)
            held[owner] -= size


def ordered(held):
    return sorted(([name, size] for name, size in held.items() if size), key=lambda row: (-row[1], row[0]))
