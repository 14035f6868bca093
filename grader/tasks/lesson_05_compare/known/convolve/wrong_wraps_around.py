"""Transforms as long as the signal give this wrong answer. The end of the result then wraps around to the beginning.
Make the transforms n + m - 1 long.
"""

import torch

from baseline import by_fft, by_shifting


def convolve(signal, weights):
    length = max(len(signal), len(weights))
    product = torch.fft.rfft(signal.double(), length) * torch.fft.rfft(weights.double(), length)
    result = signal.new_zeros(len(signal) + len(weights) - 1)
    result[:length] = torch.fft.irfft(product, length).round().long()
    return result
