"""Returning the largest memory of each function gives these wrong answers. Two functions can have their largest memory
at different times. Find the one time at which the sum over all functions is largest.
"""


def at_peak(events):
    blocks, held, best = {}, {}, {}
    for kind, address, n_bytes, name in events:
        if kind == "alloc":
            blocks[address] = (n_bytes, name)
            held[name] = held.get(name, 0) + n_bytes
            best[name] = max(best.get(name, 0), held[name])
        elif address in blocks:
            size, owner = blocks.pop(address)
            held[owner] -= size
    return sorted(([name, size] for name, size in best.items()), key=lambda row: (-row[1], row[0]))
