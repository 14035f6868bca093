"""Changes to by_fft at 30 weights. The exact number matters little.

Trade: A round number is easy to remember. Between 30 weights and the crossover, it uses the slightly slower method.
"""

from baseline import by_fft, by_shifting


def convolve(signal, weights):
    return by_shifting(signal, weights) if len(weights) < 30 else by_fft(signal, weights)
