"""Scales the old own instructions of each function by the growth of its calls, but at least by the median growth. Takes
the function that exceeds this number most.

Trade: It is short, and ignores inclusive costs. It fails if the culprit makes other functions do the work.
"""

from statistics import median


def culprit(before, after):
    names = {row[0] for row in before}

    def original(name):
        while name not in names and "." in name:
            name = name.rpartition(".")[0]
        return name

    old = {name: (calls, own) for name, calls, own, _ in before}
    new = {}
    for name, calls, own, _ in after:
        key = original(name)
        c, o = new.get(key, (0, 0))
        new[key] = c + calls, o + own

    common = [n for n in old if n in new and old[n][0] and old[n][1]]
    growth = median(new[n][0] / old[n][0] for n in common)

    def surplus(name):
        calls, own = old[name]
        factor = max(growth, new[name][0] / calls)
        return new[name][1] - own * factor

    return max(common, key=surplus)
