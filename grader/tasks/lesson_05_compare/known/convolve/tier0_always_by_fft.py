"""Uses by_fft at every size."""

from baseline import by_fft


def convolve(signal, weights):
    return by_fft(signal, weights)
