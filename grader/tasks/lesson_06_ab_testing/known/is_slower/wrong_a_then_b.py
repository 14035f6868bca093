"""Comparing A of one half of the pairs with B of the other half gives these wrong answers. The machine becomes slower
in between, so the later measurements look slower. Compare the two times of each pair.
"""

import statistics


def is_slower(next_pair, threshold):
    first = [next_pair()[0] for _ in range(400)]
    second = [next_pair()[1] for _ in range(400)]
    return statistics.median(second) > statistics.median(first) * (1 + threshold * 0.7)
