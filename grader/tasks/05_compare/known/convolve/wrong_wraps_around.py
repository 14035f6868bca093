"""The transforms are as long as the signal, so what should stick out at the end wraps around to the beginning. Make them
n + m - 1 long."""

import torch


def by_shifting(signal, weights):
    result = signal.new_zeros(len(signal) + len(weights) - 1)
    for place, weight in enumerate(weights.tolist()):
        result[place : place + len(signal)].add_(signal, alpha=weight)
    return result


def by_fft(signal, weights):
    length = len(signal) + len(weights) - 1
    padded = 1 << (length - 1).bit_length()
    product = torch.fft.rfft(signal.double(), padded) * torch.fft.rfft(weights.double(), padded)
    return torch.fft.irfft(product, padded)[:length].round().long()


def convolve(signal, weights):
    length = max(len(signal), len(weights))
    product = torch.fft.rfft(signal.double(), length) * torch.fft.rfft(weights.double(), length)
    result = signal.new_zeros(len(signal) + len(weights) - 1)
    result[:length] = torch.fft.irfft(product, length).round().long()
    return result
