"""The function whose inclusive instructions grew the most was named. That is always the one at the top, which calls all the
others: of those that grew by so much, look for the lowest."""


def culprit(before, after):
    old = {name: inclusive for name, calls, own, inclusive in before}
    growth = {}
    for name, calls, own, inclusive in after:
        name = name if name in old else name.partition(".")[0]
        growth[name] = inclusive - old.get(name, inclusive)
    return max(growth, key=growth.get)
