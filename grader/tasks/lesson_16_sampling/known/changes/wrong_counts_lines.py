"""Counting lines instead of samples gives these wrong answers. The number at the end of a line is the number of samples
with this stack. Add these numbers.
"""

from baseline import counts, significant


def changes(before, after):
    one, other = ([line.rsplit(" ", 1)[0] + " 1" for line in lines] for lines in (before, after))
    return significant(*counts(one), *counts(other))
