"""Task (b): a dispatcher that is within 1.4× of the better of two ways at every size.

Convolving whole numbers, `by_shifting` costs a pass over the signal for each weight, and `by_fft` about the same for
any number of weights. On a 2-core VM (torch 2.13) they cross near 60 weights. At the sizes that are timed one is at
least three times as fast as the other, so a crossover found on another machine serves as well. With 12 weights in place
of 6, busy neighbours moved one who always takes the transform from 1.0 to 1.4 times the baseline. What a threshold does
close to the crossover is therefore not told: there it matters least.

The baseline takes the better way at each size, and is then busy for three times as long as that took, by its own clock.
Each way has a file of its own, which the sizes name: one file that chooses would be the solution, but for its loop.
So a perfect dispatcher gains 4× on every machine, and 4 / 1.4 is within 1.4× of the better one. That is why
`least_gain` is not 2: no machine shows half of a gain that is a count. A dispatcher that takes the wrong way at one
size is at least 3 times slower there, so the tiers, at 1.4 and 2.6 times the better way, lie between the two. (A
baseline that does the work four times over would not do: the caches are warm after the first time, which made a perfect
dispatcher look up to 20 % worse than it is.)
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.records import Cost
from grader.task import Array, Inputs, Task, TensorExam, Tier

SIGNAL: Final = 6000
TIMED_WEIGHTS: Final = (6, 600, 2000)
LARGEST: Final = 1000
TIMES: Final = 4
"""How many times as long as the better way the baseline takes."""


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Tiny ones, a kernel longer than the signal, views, shared memory, the largest values, and many lengths."""
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


def timed(weights: int, rng: np.random.Generator) -> Iterator[Inputs]:
    """Draw a new signal and new weights for each call."""
    while True:
        yield _draw(rng, SIGNAL, weights)


def oracle(signal: Array, weights: Array) -> NDArray[np.float64]:
    """Return all sums of products, by the definition: whole numbers, which are exact."""
    return np.convolve(signal, weights).astype(np.float64)


def allowed(signal: Array, weights: Array) -> NDArray[np.float64]:
    """Return no error: these are whole numbers."""
    return np.zeros(len(signal) + len(weights) - 1)


CONVOLVE = Task(
    lesson="05_compare",
    name="convolve",
    summary="a dispatcher within 1.4× of the better of two ways at every size",
    points=10.0,
    cost=Cost.TIME,
    tiers=(Tier(TIMES / 2.6, 0.7), Tier(TIMES / 1.4, 1.0)),
    hints=(
        "Neither way is better everywhere. What do the two cost for 6 weights, and what for 2000?",
        (
            "Time both ways with a signal of 6000 numbers and 1, 10, 100 and 1000 weights. From which length of the "
            "weights on is by_fft faster? Your crossover finds that number, given a measure that calls a Timer."
        ),
        (
            "An if on the length of the shorter input is all it takes: below the crossover by_shifting, from there on "
            "by_fft. by_shifting makes one pass for each weight, so hand it the shorter input as the weights."
        ),
    ),
    exam=TensorExam(
        ("signal", "weights"),
        cases,
        partial(timed, TIMED_WEIGHTS[0]),
        oracle,
        allowed,
        tuple(partial(timed, weights) for weights in TIMED_WEIGHTS[1:]),
        ("baseline_by_shifting", "baseline_by_fft", "baseline_by_fft"),
    ),
    folder=Path(__file__).parent,
    read="lesson 05, step 4",
    idea=(
        "one if. by_shifting costs a pass over the signal for each weight, by_fft the same for any number of them, so "
        "there is one length where they cross, and it is measured rather than guessed. The exact number matters "
        "little: near the crossover both cost the same, and that is where a threshold may be off."
    ),
    read_on="torch picks its own kernels that way: at::parallel_for's grain size, oneDNN's choice of a convolution.",
    least_gain=1.1,
)
