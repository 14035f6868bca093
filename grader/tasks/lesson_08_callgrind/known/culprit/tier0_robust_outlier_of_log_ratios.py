"""Compares the logarithms of the growth of own instructions per call. Takes the outlier among large functions whose
inclusive cost grew too.

Trade: Relative growth also shows a small function. Small functions may grow by a large factor, so it needs a limit,
here 30 %.
"""

from math import log
from statistics import median


def culprit(before, after):
    known = {name for name, *_ in before}

    def plain(name):
        if name in known:
            return name
        for word in ("isra", "constprop", "part"):
            at = name.find("." + word + ".")
            if at > 0:
                name = name[:at]
        return name

    a = {name: (calls, own, incl) for name, calls, own, incl in before}
    b = {}
    for name, *counts in after:
        name = plain(name)
        b[name] = tuple(map(sum, zip(b.get(name, (0, 0, 0)), counts)))

    usable = [n for n in a if n in b and min(a[n][:2]) > 0 and min(b[n][:2]) > 0]
    scale = median(b[n][0] / a[n][0] for n in usable)
    total_more = max(b[n][2] - max(scale, b[n][0] / a[n][0]) * a[n][2] for n in usable)

    logs = {}
    for n in usable:
        factor = max(scale, b[n][0] / a[n][0])
        more = b[n][2] - factor * a[n][2]
        # small functions may grow by a large factor, so the outlier must have a large part of the whole surplus
        if more < 0.3 * total_more:
            continue
        logs[n] = log(b[n][1] / (factor * a[n][1]))
    return max(logs, key=logs.get)
