"""Uses the better method, and is then busy for the same time again."""

from baseline import better, slowed


def convolve(signal, weights):
    return slowed(better, 2, signal, weights)
