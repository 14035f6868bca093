"""Comparing only neighbouring accesses of a variable gives these wrong rows. In the next run, the order can differ.
Compare all pairs of accesses.
"""

from baseline import held, ordered, pairs, rows


def races(events):
    names = [name if action in ("read", "write") else None for _, action, name in events]
    found = [(p, q) for p, q in pairs(events) if names[q] not in names[p + 1 : q]]
    return rows(
        events, [(p, q) for p, q in found if not held(events, p) & held(events, q) and not ordered(events, p, q)]
    )
