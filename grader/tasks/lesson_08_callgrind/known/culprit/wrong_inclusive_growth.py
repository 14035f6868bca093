"""The function whose inclusive instructions grew the most gives these wrong answers. This is always the top function,
which calls all other functions. Of the functions that grew by nearly the same number of instructions, take the lowest.
"""


def culprit(before, after):
    old = {name: inclusive for name, calls, own, inclusive in before}
    growth = {}
    for name, calls, own, inclusive in after:
        name = name if name in old else name.partition(".")[0]
        growth[name] = inclusive - old.get(name, inclusive)
    return max(growth, key=growth.get)
