"""Comparing numbers of samples instead of shares gives these wrong answers. A longer recording has more samples of each
function. Divide by the number of all samples of the recording.
"""

import math

from baseline import counts


def changes(before, after):
    (one, _), (other, _) = counts(before), counts(after)
    if not before or not after:
        return []
    rows = [[function, one[function], other[function]] for function in sorted(set(one) | set(other))]
    return [[function, a, b] for function, a, b in rows if abs(a - b) > 2 * math.sqrt(a + b)]
