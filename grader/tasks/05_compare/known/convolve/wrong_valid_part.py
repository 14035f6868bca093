"""Only the places where the weights lie wholly within the signal: the full convolution begins earlier and ends
later, and has n + m - 1 elements."""

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
    full = by_shifting(signal, weights)
    margin = min(len(signal), len(weights)) - 1
    return full[margin : len(full) - margin]
