"""All of f was measured first, and then all of g. In between the machine changed its speed, so the two curves belong to
two machines: measure both at a size right after each other."""


def crossover(f, g, measure, low, high):
    sizes = [low]
    while sizes[-1] < high:
        sizes.append(min(high, max(sizes[-1] + 1, round(sizes[-1] * 1.05))))
    curves = [[min(measure(which, size) for _ in range(5)) for size in sizes] for which in (f, g)]
    first = curves[0][0] < curves[1][0]
    for size, a, b in zip(sizes, *curves):
        if (a < b) != first:
            return size
    return None
