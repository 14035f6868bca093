"""Returning functions with 0 bytes gives these wrong answers. Return only functions that have memory at the peak."""


def at_peak(events):
    blocks, held, best = {}, {}, {}
    total = highest = 0
    for kind, address, n_bytes, name in events:
        if kind == "alloc":
            blocks[address] = (n_bytes, name)
            held[name] = held.get(name, 0) + n_bytes
            total += n_bytes
            if total > highest:
                highest, best = total, dict(held)
        elif address in blocks:
            size, owner = blocks.pop(address)
            held[owner] -= size
            total -= size
    return sorted(([name, size] for name, size in best.items()), key=lambda row: (-row[1], row[0]))
