"""Taking the last of several equal peaks gives these wrong answers. Compare with > instead of >=, so that the first peak
counts.
"""


def at_peak(events):
    blocks, held, best = {}, {}, {}
    total = highest = 0
    for kind, address, n_bytes, name in events:
        if kind == "alloc":
            blocks[address] = (n_bytes, name)
            held[name] = held.get(name, 0) + n_bytes
            total += n_bytes
            if total >= highest:
                highest, best = total, dict(held)
        elif address in blocks:
            size, owner = blocks.pop(address)
            held[owner] -= size
            total -= size
    rows = [[name, size] for name, size in best.items() if size]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
