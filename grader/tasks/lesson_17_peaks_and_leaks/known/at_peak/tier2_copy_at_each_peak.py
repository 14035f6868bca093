"""Keeps the bytes of each function, and copies them at each new peak.

Trade: It needs one pass, so it also works while a program runs. It copies the bytes of all functions at each new peak.
"""


def at_peak(events):
    blocks, held, best = {}, {}, {}
    total = highest = 0
    for kind, address, n_bytes, name in events:
        if kind == "alloc":
            blocks[address] = (n_bytes, name)
            held[name] = held.get(name, 0) + n_bytes
            total += n_bytes
            if total > highest:
                highest = total
                best = dict(held)
        elif address in blocks:
            size, owner = blocks.pop(address)
            held[owner] -= size
            total -= size
    rows = [[name, size] for name, size in best.items() if size]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
