"""Uses by_shifting at every size, and is then busy for three times as long: the baseline for few weights."""

import time


def by_shifting(signal, weights):
    result = signal.new_zeros(len(signal) + len(weights) - 1)
    for place, weight in enumerate(weights.tolist()):
        result[place : place + len(signal)].add_(signal, alpha=weight)
    return result


def convolve(signal, weights):
    return slowed(by_shifting, 4, signal, weights)


def slowed(method, times, signal, weights):
    began = time.thread_time()
    result = method(signal, weights)
    end = began + times * (time.thread_time() - began)
    while time.thread_time() < end:
        pass
    return result
