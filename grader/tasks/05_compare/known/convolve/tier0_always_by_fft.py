import torch


def by_fft(signal, weights):
    length = len(signal) + len(weights) - 1
    padded = 1 << (length - 1).bit_length()
    product = torch.fft.rfft(signal.double(), padded) * torch.fft.rfft(weights.double(), padded)
    return torch.fft.irfft(product, padded)[:length].round().long()


def convolve(signal, weights):
    return by_fft(signal, weights)
