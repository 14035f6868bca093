"""Keeps equal accesses only once: the same thread, action, variable and locks.

Trade: A loop with thousands of accesses takes no longer to compare. It no longer knows when an access happened.
"""

from itertools import combinations


def races(events):
    life, phase, locks, kinds = {}, 0, {}, {}
    for thread, action, name in events:
        if action == "start":
            phase += 1
            life[name] = [phase, float("inf")]
        elif action == "join":
            phase += 1
            life[name][1] = phase
        elif action == "acquire":
            locks.setdefault(thread, []).append(name)
        elif action == "release":
            locks[thread].remove(name)
        else:
            when = phase if thread == "main" else -1
            kinds.setdefault(name, set()).add((thread, action, tuple(sorted(set(locks.get(thread, [])))), when))
    rows = set()
    for name in kinds:
        for (a, first, own, at), (b, second, others, then) in combinations(kinds[name], 2):
            if a == b or first == second == "read" or set(own) & set(others):
                continue
            begin, end = life.get(a, [at, at + 0.5])
            start, stop = life.get(b, [then, then + 0.5])
            if max(begin, start) < min(end, stop):
                rows.add((name, *sorted((a, b))))
    return sorted(map(list, rows))
