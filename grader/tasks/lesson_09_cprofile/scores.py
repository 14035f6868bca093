"""Task (b) of lesson 09: `scores(x)`, a pipeline of four steps, one of which repeats its work for every row.

The loop over neighbours looks expensive but is cheap. `spread` looks as if it worked on one row, but it works on all
rows. On (48, 1024) its two medians take nearly all of the time. The first median computed only once gains 2×, and one
row at a time 25 to 30×. The matrix must be so large that a processor cannot predict the branches of a median that it
computes again and again.
"""

import numpy as np
from numpy.typing import NDArray

from grader.kinds.timing import TIME
from grader.task import Array, Inputs, Task, TensorExam, Tier, endless

ROWS, LENGTH = 48, 1024
SHAPES = ((0, 5), (1, 3), (1, 7), (3, 5), (5, 17), (16, 34), (64, 96))
OUTLIER = 40.0
WEIGHTS = ((0, 0.4), (-1, 0.2), (1, 0.2), (-2, 0.1), (2, 0.1))


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Return inputs of all shapes in float32 and float64, then views, and rows of numbers of very different size."""
    drawn: list[Inputs] = []
    for dtype in ("float32", "float64"):
        drawn += [(_series(rng, shape, dtype),) for shape in SHAPES]
        wide = _series(rng, (6, 24), dtype)
        loud = (_series(rng, (4, 20), dtype) * np.array([[1], [100], [1], [0.01]])).astype(dtype)
        drawn += [(wide.T,), (wide[:, ::2],), (wide[1::2],), (np.broadcast_to(wide[:1], (3, 24)),), (loud,)]
        drawn += [(np.zeros((2, 8), dtype),), (np.ones((3, 5), dtype),)]
    return drawn


timed = endless(lambda rng: (rng.standard_normal((ROWS, LENGTH), dtype=np.float32),))
"""Random matrices of the timed shape."""


def oracle(x: Array) -> NDArray[np.float64]:
    """Return the scores in float64.

    All medians are computed again for each row, with Python's slow `sorted`. So the code is too slow for a solution.
    """
    y = x.astype(np.float64)
    t = np.arange(y.shape[1]) - (y.shape[1] - 1) / 2
    slope = (y * t).sum(1, keepdims=True) / max(float((t * t).sum()), 1.0)
    y = y - y.mean(1, keepdims=True) - slope * t
    y = sum((weight * np.roll(y, shift, 1) for shift, weight in WEIGHTS), np.zeros_like(y))
    limits = (3 * _spread(y, row) for row in range(len(y)))
    y = np.array([np.clip(each, -limit, limit) for each, limit in zip(y, limits, strict=True)]).reshape(y.shape)
    answer: NDArray[np.float64] = y / (np.abs(y).max(1, keepdims=True, initial=0.0) + 1)
    return answer


def allowed(x: Array) -> NDArray[np.float64]:
    """Return the allowed error: 16 + √d roundings of the largest absolute value in each row of d numbers.

    Errors were at most 1.5 roundings, also with sums in float32 from the first term to the last. With 16 + 2d allowed,
    the medians could have been taken from numbers in bfloat16.
    """
    size = np.abs(x.astype(np.float64)).max(1, keepdims=True, initial=0.0)
    bound = np.finfo(x.dtype).eps * (16 + np.sqrt(x.shape[1])) * np.broadcast_to(size, x.shape)
    return np.array(bound, dtype=np.float64)


def _spread(x: NDArray[np.float64], row: int) -> float:
    return float(_median(np.abs(x - _median(x)))[row, 0])


def _median(x: NDArray[np.float64]) -> NDArray[np.float64]:
    middle = (x.shape[1] - 1) // 2
    return np.array([[sorted(row)[middle]] for row in x.tolist()])


def _series(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> Array:
    rows, length = shape
    series = rng.standard_normal(shape) + rng.normal(0, 0.1, (rows, 1)) * np.arange(length)
    series += OUTLIER * (rng.random(shape) < 0.05)
    return series.astype(dtype)


SCORES = Task(
    summary="find a hidden hot spot with a profiler, and remove it",
    cost=TIME,
    tiers=(Tier(1.35, 0.7), Tier(5.0, 1.0)),
    hints=(
        "Profile plain(x), sorted by tottime. Which method is at the top, and how often is it called?",
        (
            "Which functions call it? Use print_callers of pstats, or read where median is called. How many rows does "
            "each call of median work on? How many of these rows are used afterwards?"
        ),
        (
            "spread(x, row) computes the medians of all rows, and returns only one of them. bounded calls it for "
            "every row. Compute all medians once: limits = 3 * (y - y.median(1, keepdim=True).values).abs().median(1, "
            "keepdim=True).values. Then y.clamp(-limits, limits) needs no loop."
        ),
    ),
    exam=TensorExam(("x",), cases, timed, oracle, allowed),
    read="lesson 09, “Which caller takes the time?”",
    idea=(
        "The baseline repeats the same work for every row: spread looks as if it worked on one row, but it works on "
        "all rows. The solution computes all medians once. Then the medians take little time, and no single step takes "
        "most of the time. The loop over neighbours looks suspicious, but it takes little time."
    ),
    references=(
        "The documentation of pstats.Stats.print_callers. Knuth, Structured Programming with go to Statements, "
        "describes where programs spend their time."
    ),
)
