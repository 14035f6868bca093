"""Leaving the line in the frame gives these wrong answers. py-spy writes the line that ran, so the same function occurs
with several lines. Remove the colon and the digits before the last parenthesis.
"""

from baseline import counts, significant


def changes(before, after):
    return significant(*counts(before, name=str), *counts(after, name=str))
