"""Computing in float32 gives this wrong answer. This dtype is exact only for whole numbers up to 2^24 = 16 777 216, and
the sums of products are larger.
"""

import torch

from baseline import by_fft, by_shifting


def convolve(signal, weights):
    length = len(signal) + len(weights) - 1
    product = torch.fft.rfft(signal.float(), length) * torch.fft.rfft(weights.float(), length)
    return torch.fft.irfft(product, length).round().long()
