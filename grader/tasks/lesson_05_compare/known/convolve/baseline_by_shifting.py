"""Uses by_shifting at every size, and is then busy for three times as long: the baseline for few weights."""

import time

from baseline import by_shifting


def convolve(signal, weights):
    began = time.thread_time()
    result = by_shifting(signal, weights)
    end = began + 4 * (time.thread_time() - began)
    while time.thread_time() < end:
        pass
    return result
