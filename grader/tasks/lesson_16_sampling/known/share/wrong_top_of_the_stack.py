"""Counting only the function at the top of the stack gives these wrong answers. The time of a function includes the
time of the functions that it calls. Count the samples whose stack contains the name anywhere.
"""

import math

from baseline import busy


def share(sample, name, margin):
    wanted = math.ceil(1 / margin**2)
    return sum(busy(sample)[-1] == name for _ in range(wanted)) / wanted
