"""Counting lines instead of samples gives these wrong answers. The number at the end of a line is the number of samples
with this stack. Add these numbers.
"""

from baseline import counts, significant


def changes(before, after):
    (one, _), (other, _) = (counts(line.rpartition(" ")[0] + " 1" for line in lines) for lines in (before, after))
    return significant(one, len(before), other, len(after))
