"""Uses by_shifting at every size, and is then busy for three times as long: the baseline for few weights."""

from baseline import by_shifting, slowed


def convolve(signal, weights):
    return slowed(by_shifting, 4, signal, weights)
