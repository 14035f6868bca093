"""Returning only the positions at which all weights meet the signal gives this wrong answer. The full convolution
begins earlier and ends later, and has n + m - 1 elements.
"""

from baseline import by_fft, by_shifting


def convolve(signal, weights):
    full = by_shifting(signal, weights)
    margin = min(len(signal), len(weights)) - 1
    return full[margin : len(full) - margin]
