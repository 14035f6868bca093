"""Returning the largest memory of each function gives these wrong answers. Two functions can have their largest memory
at different times. Find the one time at which the sum over all functions is largest.
"""

from wrong_last_peak import held_after_each, ordered


def at_peak(events):
    best = {}
    for held in held_after_each(events):
        best |= {name: max(best.get(name, 0), size) for name, size in held.items()}
    return ordered(best)
