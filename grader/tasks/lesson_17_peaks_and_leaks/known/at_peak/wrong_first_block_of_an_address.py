"""Keeping only the first block of each address gives these wrong answers. After a free, the same address can hold a new
block with another size and another function. Remove the old block when it is freed.
"""

from wrong_last_peak import held_after_each, ordered


def at_peak(events):
    first, changed = {}, []
    for kind, address, *block in events:
        changed.append([kind, address, *(first.setdefault(address, block) if kind == "alloc" else block)])
    return ordered(max([{}, *held_after_each(changed)], key=lambda held: sum(held.values())))
