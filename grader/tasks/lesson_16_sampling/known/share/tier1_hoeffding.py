"""Takes the number of samples that Hoeffding's inequality needs for an error rate of 5 %."""

import math


def share(sample, name, margin):
    wanted = math.ceil(math.log(2 / 0.05) / (2 * margin**2))
    seen = []
    while len(seen) < wanted:
        if stack := sample():
            seen.append(name in stack)
    return sum(seen) / len(seen)
