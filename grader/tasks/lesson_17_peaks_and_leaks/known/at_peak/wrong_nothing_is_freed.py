"""Adding up all allocations gives these wrong answers. Memory that was freed before the peak does not count."""


def at_peak(events):
    held = {}
    for kind, _, n_bytes, name in events:
        if kind == "alloc":
            held[name] = held.get(name, 0) + n_bytes
    return sorted(([name, size] for name, size in held.items()), key=lambda row: (-row[1], row[0]))
