"""Compares inclusive instructions per call. Of the functions with a large excess, takes the one with the fewest
inclusive instructions.
"""


def culprit(before, after):
    cost_of_a_call = {name: inclusive / calls for name, calls, own, inclusive in before}
    excess = {}
    lowest = {}
    for name, calls, own, inclusive in after:
        if name not in cost_of_a_call:
            for ending in (".isra.0", ".constprop.0", ".part.0"):
                name = name.removesuffix(ending)
        if name in cost_of_a_call:
            excess[name] = inclusive - calls * cost_of_a_call[name]
            lowest[name] = inclusive
    most = max(excess.values())
    return min((name for name in excess if excess[name] > most * 0.75), key=lowest.get)
