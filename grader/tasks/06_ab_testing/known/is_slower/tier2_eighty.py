"""The same with 80 pairs: about as few as one look can do with."""


def is_slower(next_pair, threshold):
    pairs = [next_pair() for _ in range(80)]
    return sum(b > a for a, b in pairs) > 51
