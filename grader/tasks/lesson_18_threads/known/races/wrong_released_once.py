"""Treating a lock as free after its first release gives these wrong rows. A thread can acquire a lock twice. Count how
often it holds the lock.
"""

from baseline import ordered, pairs, rows


def races(events):
    found = [(p, q) for p, q in pairs(events) if not held_once(events, p) & held_once(events, q)]
    return rows(events, [(p, q) for p, q in found if not ordered(events, p, q)])


def held_once(events, end):
    locks = set()
    for thread, action, name in events[:end]:
        if thread == events[end][0]:
            locks = locks | {name} if action == "acquire" else locks - {name} if action == "release" else locks
    return locks
