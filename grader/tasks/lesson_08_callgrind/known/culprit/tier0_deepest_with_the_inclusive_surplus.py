"""The inclusive cost per call grows only in the culprit and in functions above it. Takes the smallest function with at
least 60 % of the largest surplus.
"""

import re
from statistics import median

CLONE = re.compile(r"(\.(isra|constprop|part)\.\d+)+$")


def culprit(before, after):
    old = {name: (calls, own, inclusive) for name, calls, own, inclusive in before}
    new = {}
    for name, calls, own, inclusive in after:
        if name not in old:
            name = CLONE.sub("", name)
        a, b, c = new.get(name, (0, 0, 0))
        new[name] = (a + calls, b + own, c + inclusive)

    both = [name for name in old if name in new and old[name][0] > 0 and new[name][0] > 0]
    scale = median(new[name][0] / old[name][0] for name in both)

    surplus = {}
    for name in both:
        # main is called once, but repeats its work `scale` times
        expected = old[name][2] * max(scale, new[name][0] / old[name][0])
        surplus[name] = new[name][2] - expected

    most = max(surplus.values())
    heavy = [name for name in both if surplus[name] >= 0.6 * most]
    return min(heavy, key=lambda name: new[name][2])
