"""Takes 4 / margin² samples in which the program is busy, for every share."""

import math


def share(sample, name, margin):
    wanted = math.ceil(4 / margin**2)
    return sum(name in busy(sample) for _ in range(wanted)) / wanted


def busy(sample):
    while not (stack := sample()):
        pass
    return stack
