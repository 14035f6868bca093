"""Two threads cannot race if main joins one of them before it starts the other, even without a lock."""

from baseline import held, ordered, pairs, rows


def races(events):
    found = [(p, q) for p, q in pairs(events) if not held(events, p) & held(events, q)]
    return rows(
        events, [(p, q) for p, q in found if "main" not in (events[p][0], events[q][0]) or not ordered(events, p, q)]
    )
