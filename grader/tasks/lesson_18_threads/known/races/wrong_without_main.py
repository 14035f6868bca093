"""Ignoring the starts and joins gives these wrong rows. Before main starts a thread, and after it has joined the thread,
the two cannot race.
"""

from baseline import held, pairs, rows


def races(events):
    return rows(events, [(p, q) for p, q in pairs(events) if not held(events, p) & held(events, q)])
