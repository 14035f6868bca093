"""Does the same as the baseline, with 400 pairs."""


def is_slower(next_pair, threshold):
    pairs = [next_pair() for _ in range(400)]
    return sum(b > a for a, b in pairs) > 222
