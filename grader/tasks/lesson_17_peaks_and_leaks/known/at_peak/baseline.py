"""Computes the memory in use again for each event."""


def at_peak(events):
    highest = 0
    best = {}
    for end in range(len(events)):
        blocks = {}
        for i in range(end + 1):
            kind, address, n_bytes, name = events[i]
            if kind == "alloc":
                blocks[address] = [n_bytes, name]
            elif address in blocks:
                del blocks[address]
        total = 0
        held = {}
        for address in blocks:
            n_bytes, name = blocks[address]
            total = total + n_bytes
            held[name] = held.get(name, 0) + n_bytes
        if total > highest:
            highest = total
            best = held
    rows = []
    for name in best:
        rows.append([name, best[name]])
    return sorted(rows, key=lambda row: (-row[1], row[0]))
