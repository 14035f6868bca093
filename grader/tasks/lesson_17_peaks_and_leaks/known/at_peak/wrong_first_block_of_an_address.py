"""Keeping only the first block of each address gives these wrong answers. After a free, the same address can hold a new
block with another size and another function. Remove the old block when it is freed.
"""


def at_peak(events):
    first, held, best = {}, {}, {}
    in_use = set()
    total = highest = 0
    for kind, address, n_bytes, name in events:
        if kind == "alloc":
            size, owner = first.setdefault(address, (n_bytes, name))
            in_use.add(address)
            held[owner] = held.get(owner, 0) + size
            total += size
            if total > highest:
                highest, best = total, dict(held)
        elif address in in_use:
            in_use.remove(address)
            size, owner = first[address]
            held[owner] -= size
            total -= size
    rows = [[name, size] for name, size in best.items() if size]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
