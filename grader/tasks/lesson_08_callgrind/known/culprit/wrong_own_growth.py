"""The function whose own instructions grew the most gives these wrong answers. A function that is only called more
often grows too, without a change of its code. The culprit may be the function that makes these calls.
"""


def culprit(before, after):
    old = {name: own for name, calls, own, inclusive in before}
    growth = {}
    for name, calls, own, inclusive in after:
        name = name if name in old else name.partition(".")[0]
        growth[name] = own - old.get(name, own)
    return max(growth, key=growth.get)
