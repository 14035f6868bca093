"""Measures 600 pairs in every scenario, and then counts in how many pairs B was slower."""


def is_slower(next_pair, threshold):
    pairs = [next_pair() for _ in range(600)]
    return sum(b > a for a, b in pairs) > 329
