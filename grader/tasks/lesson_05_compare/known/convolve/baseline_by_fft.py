"""Uses by_fft at every size, and is then busy for three times as long: the baseline for many weights."""

import time

from baseline import by_fft


def convolve(signal, weights):
    began = time.thread_time()
    result = by_fft(signal, weights)
    end = began + 4 * (time.thread_time() - began)
    while time.thread_time() < end:
        pass
    return result
