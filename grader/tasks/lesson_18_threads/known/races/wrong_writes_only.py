"""Comparing only writes gives these wrong rows. A read in one thread and a write in another can be a race, too."""

from baseline import held, ordered, pairs, rows


def races(events):
    found = pairs(events, ("write",))
    return rows(
        events, [(p, q) for p, q in found if not held(events, p) & held(events, q) and not ordered(events, p, q)]
    )
