"""Computes how far the inclusive instructions of each function exceed its calls times the old cost per call (the
surplus). Goes from callees to callers, and takes the function at which the surplus jumps most.

Trade: It needs no fixed percentage. It takes the order of inclusive costs for the order of calls.
"""

from statistics import median


def culprit(before, after):
    was = {r[0]: r for r in before}

    def base(name):
        if name in was:
            return name
        for mark in (".isra.", ".constprop.", ".part."):
            if mark in name:
                name = name[: name.index(mark)]
        return name

    now = {}
    for name, calls, own, inclusive in after:
        n = base(name)
        old = now.get(n, (n, 0, 0, 0))
        now[n] = (n, old[1] + calls, old[2] + own, old[3] + inclusive)

    names = [n for n in was if n in now and was[n][1] > 0 and now[n][1] > 0]
    often = median(now[n][1] / was[n][1] for n in names)

    def surplus(n):
        return now[n][3] - was[n][3] * max(often, now[n][1] / was[n][1])

    gains = {n: max(0, surplus(n)) for n in names}
    by_size = sorted(names, key=lambda n: now[n][3])  # callees before callers

    # Compare each surplus with the largest surplus below. From callees to callers, the surplus jumps at the culprit.
    best, jump, below = by_size[-1], 0, 0
    for n in by_size:
        if gains[n] - below > jump:
            best, jump = n, gains[n] - below
        below = max(below, gains[n])
    return best
