"""Asks for 300 pairs in every world, and counts once in how many B was slower."""


def is_slower(next_pair, threshold):
    pairs = [next_pair() for _ in range(300)]
    return sum(b > a for a, b in pairs) > 176
