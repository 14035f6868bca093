"""Exercises of lesson 05: which of two is faster, and where that changes.

(a) `crossover` finds the size where the winner changes. It runs in simulated worlds, where every answer is either right
    or wrong, and busy neighbours on your own machine change nothing.
(b) `convolve` chooses the better of two ways at every size. It is timed for real.

Check your work with      python -m grader check 05_compare
"""

from collections.abc import Callable

import torch


def crossover(f: str, g: str, measure: Callable[[str, int], float], low: int, high: int) -> int | None:
    """Return the size between `low` and `high` at which the winner changes; None when one is faster throughout.

    f, g        names of two functions, to be passed to measure
    measure     measure(f, size) calls that function at a whole size and returns the seconds it took
    low, high   the smallest and the largest size

    Up to some size one of the two is faster, you are not told which, and from there on the other. In one world neither
    ever catches up. Answer within 5 % of that size. Farther off is right as well where the two cost the same within
    5 %: nobody could tell them apart there.

    What disturbs: in some worlds the first measurement is cold and others take up to four times too long; on one
    machine everything changes its speed now and then.

    Your function is tried in 191 simulated worlds, and may be wrong in 2 of them. In 144 of them the machine changes
    its speed, by three times and more, after every 12 to 30 measurements: also between two that you compare.

    Points: 4 of 10 for right answers. The fewer measurements, the more points: 6 for 1.3 times fewer than it takes to
    walk through all sizes in steps of 8 %, 8 for 2.5 times, all 10 for 5.8 times. In each world you may
    measure 20000 times.
    """
    raise NotImplementedError("Return the size where the winner changes.")


def by_shifting(signal: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Convolve by one pass over `signal` for each weight. Use it as it is."""
    result = signal.new_zeros(len(signal) + len(weights) - 1)
    for place, weight in enumerate(weights.tolist()):
        result[place : place + len(signal)].add_(signal, alpha=weight)
    return result


def by_fft(signal: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Convolve by a product of Fourier transforms, rounded to whole numbers. Use it as it is."""
    length = len(signal) + len(weights) - 1
    padded = 1 << (length - 1).bit_length()  # the transform of a power of two is the fastest
    product = torch.fft.rfft(signal.double(), padded) * torch.fft.rfft(weights.double(), padded)
    result: torch.Tensor = torch.fft.irfft(product, padded)[:length]
    return result.round().long()


def convolve(signal: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the full convolution of two rows of whole numbers, at every size within 1.4 times of the better way.

    `signal` and `weights` are int64, of shapes (n,) and (m,), n and m at least 1, with values from -1000 to 1000;
    either may be the longer one, and may be strided; leave them as they are. The answer has shape (n + m - 1,) and is
    int64: its element k is the sum of all signal[i] * weights[k - i].

    Points: 4 of 10 for right answers. It is timed with n = 6000 and three lengths m from 6 to 2000, on either side of
    the crossover and none near it, and its worst length counts. The baseline it is compared with takes the
    better way and is made to take four times as long, so 4 times the baseline is as good as the better way: 7 points
    within 2.6 times of the better one (1.54 times the baseline), all 10 within 1.4 times (2.86).
    """
    raise NotImplementedError("Return what the better of by_shifting and by_fft gives at this size.")
