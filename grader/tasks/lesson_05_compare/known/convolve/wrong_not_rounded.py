"""Cutting off the fraction after the Fourier transform gives this wrong answer: 2.9999 becomes 2. Round to the nearest
whole number first.
"""

import torch

from baseline import by_fft, by_shifting


def convolve(signal, weights):
    length = len(signal) + len(weights) - 1
    product = torch.fft.rfft(signal.double(), length) * torch.fft.rfft(weights.double(), length)
    return torch.fft.irfft(product, length).long()
