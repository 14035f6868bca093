"""Looking up functions only by their exact names gives these wrong answers. A cloned function then looks like a new
function. name.isra.0, name.constprop.0 and name.part.0 are clones of name.
"""


def culprit(before, after):
    old = {name: (calls, inclusive) for name, calls, own, inclusive in before}
    grown = []
    for name, calls, own, inclusive in after:
        if name in old:
            old_calls, old_inclusive = old[name]
            grown.append((inclusive - old_inclusive / old_calls * calls, inclusive, name))
    most = max(grown)[0]
    return min((inclusive, name) for excess, inclusive, name in grown if excess >= 0.8 * most)[1]
