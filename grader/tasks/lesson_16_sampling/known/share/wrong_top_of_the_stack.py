"""Counting only the function at the top of the stack gives these wrong answers. The time of a function includes the
time of the functions that it calls. Count the samples whose stack contains the name anywhere.
"""

import math


def share(sample, name, margin):
    hits = total = 0
    while total < 1 / margin**2:
        stack = sample()
        if stack:
            total += 1
            hits += stack[-1] == name
    return hits / total
