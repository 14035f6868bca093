"""Requiring equal sets of locks gives these wrong rows. One lock that both threads hold is enough."""

from baseline import held, ordered, pairs, rows


def races(events):
    found = [(p, q) for p, q in pairs(events) if held(events, p) != held(events, q) or not held(events, p)]
    return rows(events, [(p, q) for p, q in found if not ordered(events, p, q)])
