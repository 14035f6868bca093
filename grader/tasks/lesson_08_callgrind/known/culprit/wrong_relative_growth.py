"""The function that grew the most in proportion gives these wrong answers. A very small function that grows tenfold
still has few instructions. After the change the program prints more rows, so small functions grow, but with few
instructions.
"""


def culprit(before, after):
    old = {name: own for name, calls, own, inclusive in before}
    growth = {}
    for name, calls, own, inclusive in after:
        name = name if name in old else name.partition(".")[0]
        growth[name] = own / max(old.get(name, own), 1)
    return max(growth, key=growth.get)
