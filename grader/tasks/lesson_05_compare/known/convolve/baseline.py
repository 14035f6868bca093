"""Uses the better method at each size, and is then busy for three times as long. So it takes four times as long as the
better method on every machine.
"""

import time

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


def better(signal, weights):
    return by_shifting(signal, weights) if len(weights) < 60 else by_fft(signal, weights)


def convolve(signal, weights):
    return slowed(better, 4, signal, weights)


def slowed(method, times, signal, weights):
    began = time.thread_time()
    result = method(signal, weights)
    end = began + times * (time.thread_time() - began)
    while time.thread_time() < end:
        pass
    return result
