"""Does the same as the baseline, with 80 pairs: about the fewest that a test with a single look needs."""


def is_slower(next_pair, threshold):
    pairs = [next_pair() for _ in range(80)]
    return sum(b > a for a, b in pairs) > 51
