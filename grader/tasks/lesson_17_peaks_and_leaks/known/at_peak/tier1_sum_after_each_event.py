"""Keeps the blocks in use, and adds them up by function after each event."""


def at_peak(events):
    blocks, best, highest = {}, {}, 0
    for kind, address, n_bytes, name in events:
        if kind == "free":
            blocks.pop(address, None)
            continue
        blocks[address] = (n_bytes, name)
        held, total = {}, 0
        for size, owner in blocks.values():
            held[owner] = held.get(owner, 0) + size
            total += size
        if total > highest:
            highest, best = total, held
    return sorted(([name, size] for name, size in best.items()), key=lambda row: (-row[1], row[0]))
