"""Counting each frame gives these wrong answers. A function that calls itself is on the stack several times, but all its
frames belong to the same samples. Make a set of the functions of a stack.
"""

from baseline import counts, significant


def changes(before, after):
    return significant(*counts(before, list), *counts(after, list))
