"""Ranks functions by own surplus, by relative growth per call, and by few inclusive instructions. Takes the smallest
sum of ranks.
"""

import re
from statistics import median


def culprit(before, after):
    old = {name: (calls, own, inclusive) for name, calls, own, inclusive in before}
    new = {}
    for name, calls, own, inclusive in after:
        if name not in old:
            name = re.sub(r"(\.(isra|constprop|part)\.\d+)+$", "", name)
        x, y, z = new.get(name, (0, 0, 0))
        new[name] = (x + calls, y + own, z + inclusive)

    names = [n for n in old if n in new and old[n][0] and old[n][1] and new[n][0]]
    scale = median(new[n][0] / old[n][0] for n in names)
    factor = {n: max(scale, new[n][0] / old[n][0]) for n in names}

    own = {n: new[n][1] - factor[n] * old[n][1] for n in names}
    inclusive = {n: new[n][2] - factor[n] * old[n][2] for n in names}
    relative = {n: new[n][2] / (factor[n] * old[n][2]) for n in names}

    # Callers of the culprit have its inclusive surplus too, so a large surplus is only a condition, not a rank.
    suspects = [n for n in names if inclusive[n] > 0.4 * max(inclusive.values())]

    ranks = dict.fromkeys(suspects, 0)
    for key in (own, relative, {n: -new[n][2] for n in suspects}):
        for place, n in enumerate(sorted(suspects, key=lambda n: -key[n])):
            ranks[n] += place
    return min(suspects, key=lambda n: (ranks[n], new[n][2]))
