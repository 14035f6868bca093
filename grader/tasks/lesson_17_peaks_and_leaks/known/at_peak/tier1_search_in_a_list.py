"""Keeps the blocks in use in a list, and searches this list for each free."""


def at_peak(events):
    blocks, best = [], []
    total = highest = 0
    for kind, address, n_bytes, name in events:
        if kind == "alloc":
            blocks.append((address, n_bytes, name))
            total += n_bytes
        else:
            for i in range(len(blocks)):
                if blocks[i][0] == address:
                    total -= blocks[i][1]
                    del blocks[i]
                    break
        if total > highest:
            highest = total
            best = []
            for block in blocks:
                best.append(block)
    held = {}
    for _, n_bytes, name in best:
        held[name] = held.get(name, 0) + n_bytes
    return sorted(([name, size] for name, size in held.items()), key=lambda row: (-row[1], row[0]))
