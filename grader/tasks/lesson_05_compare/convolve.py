"""Task (b) of lesson 05: a dispatcher that takes at most 1.4× the time of the better of two methods at every size.

`by_shifting` makes a pass over the signal for each weight. `by_fft` costs about the same for any number of weights.
Their costs cross near 60 weights. At each timed size, one method is at least three times as fast as the other.

The baseline uses the better method, and then stays busy for three times as long. So a perfect dispatcher gains 4× on
every machine, and the solution needs a gain of only 1.1 times the top tier (`least_gain`). Each method has its own
baseline file, because a file that chooses the method would contain the solution.
"""

from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.kinds.timing import TIME
from grader.task import Array, Inputs, Task, TensorExam, Tier, endless

SIGNAL: Final = 6000
LARGEST: Final = 1000
TIMES: Final = 4
"""The baseline, with which submissions are compared, takes this many times as long as the better method."""


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Return inputs of many lengths, with and without views, shared memory, the largest values, and long weights."""
    lengths = [(1, 1), (1, 4), (4, 1), (2, 3), (5, 5), (3, 70), (70, 3), (64, 64), (300, 41), (900, 250), (2000, 900)]
    lengths += [(4, 126), (200, 58)]  # the result is one longer than a power of two
    drawn = [_draw(rng, *pair) for pair in lengths]
    signal, weights = _draw(rng, 60, 12)
    drawn += [(signal[::2], weights), (signal, weights[::3]), (signal, signal), (np.repeat(signal, 2)[::2], weights)]
    drawn += [(np.zeros(9, np.int64), weights), (np.full(3000, LARGEST), np.full(700, -LARGEST))]
    drawn += [_draw(rng, *(int(n) for n in rng.integers(2, 400, size=2))) for _ in range(6)]
    return drawn


def _draw(rng: np.random.Generator, signal: int, weights: int) -> Inputs:
    return tuple(rng.integers(-LARGEST, LARGEST + 1, size=length) for length in (signal, weights))


few, many, most = (endless(partial(_draw, signal=SIGNAL, weights=weights)) for weights in (12, 600, 2000))
"""Random inputs: a signal of the timed length, and 12, 600 or 2000 weights."""


def oracle(signal: Array, weights: Array) -> NDArray[np.float64]:
    """Return the convolution, computed by its definition. Sums of whole numbers are exact."""
    return np.convolve(signal, weights).astype(np.float64)


def allowed(signal: Array, weights: Array) -> NDArray[np.float64]:
    """Return the allowed error of each element: 0, because whole numbers have no rounding error."""
    return np.zeros(len(signal) + len(weights) - 1)


CONVOLVE = Task(
    summary="choose the better of two methods at every size, within 1.4× of its time",
    cost=TIME,
    tiers=(Tier(TIMES / 2.6, 0.7), Tier(TIMES / 1.4, 1.0)),
    hints=(
        "Neither method is better at every size. How long does each method take for 12 weights, and for 2000 weights?",
        (
            "Time both methods with a signal of 6000 numbers and 1, 10, 100 and 1000 weights. What is the smallest "
            "number of weights at which by_fft is faster? Your function crossover finds this number if its argument is "
            "a measure function that calls a Timer."
        ),
        (
            "Use one `if` on the length of the shorter input. Below the crossover call by_shifting, otherwise by_fft. "
            "by_shifting makes one pass for each weight, so pass it the shorter input as the weights."
        ),
    ),
    exam=TensorExam(
        ("signal", "weights"),
        cases,
        few,
        oracle,
        allowed,
        (many, most),
        ("baseline_by_shifting", "baseline_by_fft", "baseline_by_fft"),
    ),
    read="lesson 05, “Where the winner changes”",
    idea=(
        "The solution needs only one `if`. by_shifting makes a pass over the signal for each weight, and by_fft costs "
        "the same for any number of weights. So there is one number of weights at which both methods cost the same. "
        "This number was measured. An exact number is not necessary, because near the crossover both methods cost "
        "nearly the same."
    ),
    references=(
        "torch chooses some of its own kernels in the same way: see the grain size of at::parallel_for, and how oneDNN "
        "chooses a convolution."
    ),
    least_gain=1.1,
)
