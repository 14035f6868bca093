"""Counting two reads gives these wrong rows. At least one of the two accesses must be a write."""

from baseline import held, ordered, pairs, rows


def races(events):
    found = [*pairs(events), *pairs(events, ("read",))]
    return rows(
        events, [(p, q) for p, q in found if not held(events, p) & held(events, q) and not ordered(events, p, q)]
    )
