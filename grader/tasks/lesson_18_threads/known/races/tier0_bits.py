"""Writes the locks of a thread as the bits of a number, and compares each access with all accesses.

Trade: One operation on two numbers finds a common lock. It is slow for many accesses.
"""


def races(events):
    bit = {name: 1 << n for n, name in enumerate(sorted({name for _, action, name in events if action == "acquire"}))}
    depth, mask, start, join, rows, seen = {}, {}, {}, {}, set(), []
    for n, (thread, action, name) in enumerate(events):
        if action == "start":
            start[name] = n
        if action == "join":
            join[name] = n
        if action == "acquire" or action == "release":
            depth[thread, name] = depth.get((thread, name), 0) + (1 if action == "acquire" else -1)
            old = mask.get(thread, 0)
            mask[thread] = old | bit[name] if depth[thread, name] else old & ~bit[name]
        if action == "read" or action == "write":
            seen.append((n, thread, name, action == "write", mask.get(thread, 0)))
    last = len(events)
    for n, a, x, write, own in seen:
        for m, b, y, also, others in seen:
            if m >= n or a == b or x != y or own & others or not (write | also):
                continue
            low, high = (n, n) if a == "main" else (start[a], join.get(a, last))
            begin, end = (m, m) if b == "main" else (start[b], join.get(b, last))
            if low < end and begin < high:
                rows.add((x, min(a, b), max(a, b)))
    return [list(row) for row in sorted(rows)]
