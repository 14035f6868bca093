"""The function that grew the most in proportion was named. Next to nothing that grows tenfold is still next to nothing:
here some rows more are shown, and that is not where the instructions went."""


def culprit(before, after):
    old = {name: own for name, calls, own, inclusive in before}
    growth = {}
    for name, calls, own, inclusive in after:
        name = name if name in old else name.partition(".")[0]
        growth[name] = own / max(old.get(name, own), 1)
    return max(growth, key=growth.get)
