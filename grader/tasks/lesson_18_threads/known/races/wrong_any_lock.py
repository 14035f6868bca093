"""Treating each access with a lock as protected gives these wrong rows. Two different locks protect nothing, and an
access without a lock can race with an access that has one.
"""

from baseline import held, ordered, pairs, rows


def races(events):
    found = [(p, q) for p, q in pairs(events) if not held(events, p) and not held(events, q)]
    return rows(events, [(p, q) for p, q in found if not ordered(events, p, q)])
