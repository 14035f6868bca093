"""Computes the formula of the exercise with three arrays for all pairs, each kept alive by a name."""


def nearest(x, y, scale):
    differences = x[:, None] - y
    scaled = differences / scale
    squared = scaled * scaled
    return squared.sum(-1).min(1).values
