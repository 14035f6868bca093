"""Returning the memory that is in use after the last event gives these wrong answers. That memory shows leaks. The peak
may have been earlier.
"""

from wrong_last_peak import ordered


def at_peak(events):
    blocks = {}
    for kind, address, n_bytes, name in events:
        blocks[address] = (name, n_bytes)
    held = {}
    for name, n_bytes in blocks.values():
        held[name] = held.get(name, 0) + n_bytes
    return ordered(held)
