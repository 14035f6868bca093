"""Exercises of lesson 05: which of two functions is faster, and at which size the faster function changes.

(a) `crossover` finds the size where the faster function changes. It runs in simulated scenarios. Every
    answer is either right or wrong, and other programs on your own machine change nothing.
(b) `convolve` chooses the faster of two methods at every size. It is timed on the real machine.

Check your work with      fairclock check 05_compare
"""

# BEGIN SOLUTION
import math

# END SOLUTION
from collections.abc import Callable

import torch

# BEGIN SOLUTION
WINS = 5
CLOSE_ENOUGH = 1.02
# END SOLUTION


def crossover(f: str, g: str, measure: Callable[[str, int], float], low: int, high: int) -> int | None:
    """Return the size between `low` and `high` at which the faster function changes, or None if it never changes.

    f, g        names of two functions, to pass to measure
    measure     measure(f, size) calls that function at a whole size and returns the seconds that it took
    low, high   the smallest and the largest size

    Below some size one function is faster, and above this size the other function is faster. You do not know which
    function is faster at small sizes. In some scenarios one function is faster at every size. An answer is right if it
    differs by at most 5 % from the true size. A size at which the two times differ by at most 5 % is right too, because
    no measurement could separate them.

    There are disturbances. In some scenarios the first measurement is slow (cold), and some later measurements take up
    to four times too long.

    The grader runs your function in 239 simulated scenarios. Its answer may be wrong in 2 scenarios. In 192 scenarios
    the machine becomes three or more times slower, or fast again, after every 12 to 30 measurements. The speed can also
    change between two measurements that you compare.

    Points: 4 of 10 for right answers. The baseline tries all sizes in steps of 8 %. You get 6 points for 1.3 times
    fewer measurements than the baseline, 8 for 2.5 times fewer, and all 10 for 5.8 times fewer. In each scenario you
    may measure 20000 times.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return the size where the faster function changes.")
    first = faster(f, g, measure, low)
    if faster(f, g, measure, high) == first:
        return None
    while high > low + 1 and high > low * CLOSE_ENOUGH:
        # This is the middle on a logarithmic scale, because sizes go up to a million and the tolerance is relative.
        middle = min(max(round(math.sqrt(low * high)), low + 1), high - 1)
        if faster(f, g, measure, middle) == first:
            low = middle
        else:
            high = middle
    return high
    # END SOLUTION


# BEGIN SOLUTION
def faster(f: str, g: str, measure: Callable[[str, int], float], size: int) -> str:
    """Return the name of the first function to win `WINS` rounds. A round measures f and then g; the faster wins."""
    wins = {f: 0, g: 0}
    while max(wins.values()) < WINS:
        wins[f if measure(f, size) < measure(g, size) else g] += 1
    return f if wins[f] == WINS else g


# END SOLUTION
def by_shifting(signal: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the convolution, computed by one pass over `signal` for each weight. Do not change this function."""
    result = signal.new_zeros(len(signal) + len(weights) - 1)
    for place, weight in enumerate(weights.tolist()):
        result[place : place + len(signal)].add_(signal, alpha=weight)
    return result


def by_fft(signal: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the convolution by Fourier transforms, rounded to whole numbers. Do not change this function."""
    length = len(signal) + len(weights) - 1
    padded = 1 << (length - 1).bit_length()  # a transform is fastest for a power of two
    product = torch.fft.rfft(signal.double(), padded) * torch.fft.rfft(weights.double(), padded)
    result: torch.Tensor = torch.fft.irfft(product, padded)[:length]
    return result.round().long()


# BEGIN SOLUTION
FFT_FROM = 60
# END SOLUTION


def convolve(signal: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the full convolution of two rows of whole numbers, nearly as fast as the better method at every size.

    `signal` and `weights` are int64, of shapes (n,) and (m,), with values from -1000 to 1000. n and m are at least 1.
    Either input may be longer, and both may be strided. Do not change the inputs. The answer is int64 of shape (n + m -
    1,). Its element k is the sum of all signal[i] * weights[k - i].

    Points: 4 of 10 for right answers. The timed sizes are n = 6000 and three lengths m from 6 to 2000, on both sides of
    the crossover and not near it. Only the length at which your speed is worst counts. The baseline uses the better
    method, and then waits until it has taken four times the time of this method. You get 7 points for at most 2.6 times
    the time of the better method, which is 1.54 times the speed of the baseline. You get all 10 for at most 1.4 times
    the time of the better method, which is 2.86 times the speed of the baseline.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return the result of by_shifting or by_fft, whichever is faster at this size.")
    if len(weights) > len(signal):
        signal, weights = weights, signal
    # Near the crossover both methods cost the same, so the threshold need not be exact.
    return by_shifting(signal, weights) if len(weights) < FFT_FROM else by_fft(signal, weights)
    # END SOLUTION
