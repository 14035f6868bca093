"""Repeating each function until two of its times agree gives these wrong answers. When the machine changes its speed,
the two times of f may agree at one speed, and those of g at another. Measure f and g alternately, and compare the two
times of each pair.
"""

import math


def agree(times):
    if len(times) < 2:
        return False
    a, b = sorted(times)[:2]
    return b <= 1.06 * a


def crossover(f, g, measure, low, high):
    def difference(size):
        of_f, of_g = [], []
        for _ in range(8):
            of_f.append(measure(f, size))
            of_g.append(measure(g, size))
            if agree(of_f) and agree(of_g):
                break
        return math.log(min(of_f) / min(of_g))

    measure(f, low)
    measure(g, low)
    sign = math.copysign(1, difference(low))
    if difference(high) * sign > 0:
        return None

    while high / low > 1.08 and high - low > 1:
        middle = round((low * high) ** 0.5)
        if middle == low or middle == high:
            break
        d = difference(middle)
        if d * sign > 0:
            low = middle
        else:
            high = middle
    return round((low * high) ** 0.5)
