"""A correlation gives this wrong answer. A correlation pairs signal and weights in the same order. A convolution
reverses one of them.
"""

from baseline import by_fft, by_shifting


def convolve(signal, weights):
    return by_shifting(signal, weights.flip(0))
