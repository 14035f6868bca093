"""Returning every function whose share differs gives these wrong answers. The shares of two recordings differ by chance,
also without a change. Return only differences larger than two standard errors.
"""

from baseline import counts


def changes(before, after):
    (one, n), (other, m) = counts(before), counts(after)
    if n == 0 or m == 0:
        return []
    return [[f, one[f], other[f]] for f in sorted(set(one) | set(other)) if one[f] * m != other[f] * n]
