"""Uses the better method at each size, and is then busy for three times as long. So it takes four times as long as the
better method on every machine.
"""

from baseline_by_fft import by_fft, slowed
from baseline_by_shifting import by_shifting


def better(signal, weights):
    return by_shifting(signal, weights) if len(weights) < 60 else by_fft(signal, weights)


def convolve(signal, weights):
    return slowed(better, 4, signal, weights)
