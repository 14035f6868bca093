"""Uses by_fft at every size, and is then busy for three times as long: the baseline for many weights."""

from baseline import by_fft, slowed


def convolve(signal, weights):
    return slowed(by_fft, 4, signal, weights)
