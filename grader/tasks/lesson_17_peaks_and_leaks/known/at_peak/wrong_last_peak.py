"""Taking the last of several equal peaks gives these wrong answers. Compare with > instead of >=, so that the first peak
counts.
"""


def at_peak(events):
    best = {}
    highest = 0
    for held in held_after_each(events):
        if sum(held.values()) >= highest:
            highest, best = sum(held.values()), held
    return ordered(best)


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
