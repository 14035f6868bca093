"""Computes the cheapest order of each chain from the shapes.

Trade: The order also fits other shapes. It is much more code than parentheses.
"""

from functools import cache

from baseline import mixed


def chain(*matrices):
    sizes = [len(matrices[0]), *(matrix.shape[1] for matrix in matrices)]

    @cache
    def best(first, last):
        if first == last:
            return 0, first
        return min(
            (best(first, cut)[0] + best(cut + 1, last)[0] + sizes[first] * sizes[cut + 1] * sizes[last + 1], cut)
            for cut in range(first, last)
        )

    def multiplied(first, last):
        if first == last:
            return matrices[first]
        cut = best(first, last)[1]
        return multiplied(first, cut) @ multiplied(cut + 1, last)

    return multiplied(0, len(matrices) - 1)


def without_echo(x, hall, door, room, mix):
    echo = mixed(chain(room, door, hall, x).clamp(-1, 1), mix)
    return x - chain(echo.T, room, door, hall).T
