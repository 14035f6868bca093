"""Dividing by all samples gives these wrong answers. Samples in which the program was idle belong to no function. Leave
them out of the total.
"""

import math


def share(sample, name, margin):
    wanted = math.ceil(1 / margin**2)
    return sum(name in sample() for _ in range(wanted)) / wanted
