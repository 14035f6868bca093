"""Task (a): `nearest(x, y, scale)`, measured by the most memory that it holds at once.

The plain way lays the differences of all pairs of rows side by side, and gives each of its three steps a name: three
arrays of 1024 × 1024 × 24 numbers, 96 MiB each, beside some 25 MiB that torch's own code takes. Using one name again
leaves 69 % of that peak, half of the rows at a time 54 %, working in place 39 %, a few rows at a time 10 %. The tiers
lie above the first of these and between the last two, at 83 % and 25 %. None of these moves by more than a percent from
one grading to the next, on a busy machine or on an idle one.
torch's own part differs between builds: with torch 2.9 and CUDA it is 38 MiB, and a few rows at a time leave 15 %. So
`least_gain` is 1.6.
(Measured on a 2-core VM, torch 2.9, 2.13 and 2.15, Linux 6.18.)
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grader.records import Cost
from grader.task import Array, Inputs, Task, TensorExam, Tier

ROWS, COLUMNS = 1024, 24
SHAPES = ((0, 3, 2), (1, 1, 1), (1, 4, 3), (5, 1, 2), (7, 9, 4), (33, 65, 3), (130, 40, 5), (40, 130, 24))
FAR = 1000.0
"""How far from zero rows lie that are near each other: their squares have no digits left to tell them apart."""


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Draw every small shape in both dtypes, then what is easily overlooked."""
    drawn: list[Inputs] = []
    for dtype in ("float32", "float64"):
        for rows, others, columns in SHAPES:
            drawn.append(_drawn(rng, (rows, others, columns), dtype))
        x, y, scale = _drawn(rng, (6, 8, 10), dtype)
        drawn += [(x[:, ::2], y[:, 1::2], scale[::2]), (x, x, scale), (x, np.broadcast_to(x[:1], y.shape), scale)]
        drawn.append(((x + FAR).astype(dtype), (y + FAR).astype(dtype), scale))
        for value in (np.nan, np.inf):
            spoilt = y.copy()
            spoilt[2, 3] = value
            drawn += [(x, spoilt, scale), (spoilt, x, scale)]
    return drawn


def timed(rng: np.random.Generator) -> Iterator[Inputs]:
    """Two fresh clouds of points, and a fresh scale for each column."""
    while True:
        yield _drawn(rng, (ROWS, ROWS, COLUMNS), "float32")


def oracle(x: Array, y: Array, scale: Array) -> NDArray[np.float64]:
    """Return the smallest of the scaled squared distances of each row, in float64 and as the exercise writes it."""
    points, others, by = (each.astype(np.float64) for each in (x, y, scale))
    with np.errstate(invalid="ignore", over="ignore"):
        differences = points[:, None] - others
        scaled = differences / by
        squared = scaled * scaled
        nearest: NDArray[np.float64] = squared.sum(-1).min(1)
    return nearest


def allowed(x: Array, y: Array, scale: Array) -> NDArray[np.float64]:
    """Return a rounding for each of a term's three operations and for each sum, relative to a distance.

    That is the distance to the first row of `y`: at least as far as the nearest one, and worked out in no time.
    """
    with np.errstate(invalid="ignore"):
        bound: NDArray[np.float64] = np.finfo(x.dtype).eps * (8 + x.shape[1]) * oracle(x, y[:1], scale)
    return bound


def _drawn(rng: np.random.Generator, sizes: tuple[int, int, int], dtype: str) -> Inputs:
    rows, others, columns = sizes
    x, y = (rng.standard_normal((count, columns)).astype(dtype) for count in (rows, others))
    return x, y, rng.uniform(0.5, 2.0, columns).astype(dtype)


NEAREST = Task(
    lesson="10_memory",
    name="nearest",
    summary="the distance to the nearest row, in a quarter of the baseline's peak memory",
    points=10.0,
    cost=Cost.PEAK_MEMORY,
    tiers=(Tier(1 / 0.83, 0.7), Tier(1 / 0.25, 1.0)),
    hints=(
        "How large is x[:, None] - y, in bytes? And how many arrays of that size are alive at once, at most?",
        (
            "A name keeps its tensor alive until the function ends or the name is given to another. And an operation "
            "whose name ends in _ needs no new tensor: which of yours work on what is nobody else's?"
        ),
        (
            "No row of x has to wait for another one's distances. Take 16 rows of x at a time (x.split(16)), keep only "
            "the few numbers that are their answers, and torch.cat them at the end."
        ),
    ),
    exam=TensorExam(("x", "y", "scale"), cases, timed, oracle, allowed),
    folder=Path(__file__).parent,
    read="lesson 10, step 7",
    idea=(
        "the answer of one row needs nothing of another row's, so a few rows at a time will do: the array of all "
        "differences shrinks by the number of blocks, and what is left of the peak is torch itself. Within a block, "
        "working in place needs one array instead of three. It is faster as well, for a small block stays in the cache."
    ),
    read_on=(
        "torch.Tensor.split; memory_profiler's line table of your own function (lesson 10, step 5) shows which line "
        "makes the peak."
    ),
    least_gain=1.6,
)
