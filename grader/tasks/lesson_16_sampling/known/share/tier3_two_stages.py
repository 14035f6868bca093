"""Takes 25 samples, computes from them how many samples the margin needs, and takes the rest.

Trade: After 25 samples, the number of samples is known. It cannot correct a wrong first estimate.
"""

import math

from baseline import busy


def share(sample, name, margin):
    seen = [name in busy(sample) for _ in range(25)]
    p = (sum(seen) + 1) / (len(seen) + 2)
    wanted = math.ceil(4.2 * p * (1 - p) / margin**2)
    while len(seen) < wanted:
        seen.append(name in busy(sample))
    return sum(seen) / len(seen)
