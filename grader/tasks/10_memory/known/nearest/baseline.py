"""As it is written down: three arrays of all pairs, each with a name that keeps it alive."""


def nearest(x, y, scale):
    differences = x[:, None] - y
    scaled = differences / scale
    squared = scaled * scaled
    return squared.sum(-1).min(1).values
