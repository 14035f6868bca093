"""A was taken from one half of the pairs and B from the other. In between the machine changed: where it gets slower all
the time, whatever is measured later looks slower. Compare the two times of one pair."""

import statistics


def is_slower(next_pair, threshold):
    first = [next_pair()[0] for _ in range(40)]
    second = [next_pair()[1] for _ in range(40)]
    return statistics.median(second) > statistics.median(first) * (1 + threshold / 2)
