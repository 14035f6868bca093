"""One name for all three, so that an array is given back as soon as the next one is there: two are alive at once."""


def nearest(x, y, scale):
    pairs = x[:, None] - y
    pairs = pairs / scale
    pairs = pairs * pairs
    return pairs.sum(-1).min(1).values
