"""The function whose own instructions grew the most was named. A function that is called more often grows as well, and is
the same as ever: the culprit may be the one that calls it."""


def culprit(before, after):
    old = {name: own for name, calls, own, inclusive in before}
    growth = {}
    for name, calls, own, inclusive in after:
        name = name if name in old else name.partition(".")[0]
        growth[name] = own - old.get(name, own)
    return max(growth, key=growth.get)
