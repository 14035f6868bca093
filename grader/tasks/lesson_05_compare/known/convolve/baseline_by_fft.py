"""Uses by_fft at every size, and is then busy for three times as long: the baseline for many weights."""

import time

import torch


def by_fft(signal, weights):
    length = len(signal) + len(weights) - 1
    padded = 1 << (length - 1).bit_length()
    product = torch.fft.rfft(signal.double(), padded) * torch.fft.rfft(weights.double(), padded)
    return torch.fft.irfft(product, padded)[:length].round().long()


def convolve(signal, weights):
    return slowed(by_fft, 4, signal, weights)


def slowed(method, times, signal, weights):
    began = time.thread_time()
    result = method(signal, weights)
    end = began + times * (time.thread_time() - began)
    while time.thread_time() < end:
        pass
    return result
