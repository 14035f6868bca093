"""Task (a) of lesson 10: `nearest(x, y, scale)`, graded by its peak memory.

The baseline keeps three arrays for all pairs of rows, each of 1024 × 1024 × 96 numbers in 384 MiB. The peak includes
torch's code, whose size depends on the machine. A submission can release it, so that it does not count:

| torch's code | released | one name | in place | in place, released | a loop of numba | a few rows at a time |
| --- | --- | --- | --- | --- | --- | --- |
| 20 MiB | 98 % | 67 % | 35 % | 33 % | 14 % | 3 % to 6 % |
| 220 MiB | 84 % | 72 % | 44 % | 28 % | 26 % | 17 % to 20 % |
"""

import numpy as np
from numpy.typing import NDArray

from grader.kinds.peak_memory import PEAK_MEMORY
from grader.limits import Limits
from grader.task import Array, Inputs, Task, TensorExam, Tier, endless

ROWS, COLUMNS = 1024, 96
SHAPES = ((0, 3, 2), (1, 1, 1), (1, 4, 3), (5, 1, 2), (7, 9, 4), (33, 65, 3), (130, 40, 5), (40, 130, 24))
FAR = 1000.0
"""The distance from zero of rows that are near each other. Their squares are too large for an exact difference."""


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Return small inputs in float32 and float64, views, shared memory, rows far from zero, NaN and infinity."""
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


timed = endless(lambda rng: _drawn(rng, (ROWS, ROWS, COLUMNS), "float32"))
"""Random inputs of the timed sizes."""


def oracle(x: Array, y: Array, scale: Array) -> NDArray[np.float64]:
    """Return the smallest scaled squared distance of each row, in float64, with three arrays of 384 MiB."""
    if len(x) > ROWS // 2:
        return np.concatenate([oracle(half, y, scale) for half in np.array_split(x, 2)])
    points, others, by = (each.astype(np.float64) for each in (x, y, scale))
    with np.errstate(invalid="ignore", over="ignore"):
        differences = points[:, None] - others
        scaled = differences / by
        squared = scaled * scaled
        nearest: NDArray[np.float64] = squared.sum(-1).min(1)
    return nearest


def allowed(x: Array, y: Array, scale: Array) -> NDArray[np.float64]:
    """Return the allowed error: the roundings of all operations on the distance to the first row of `y`.

    This distance is at least the smallest distance, and cheap to compute.
    """
    with np.errstate(invalid="ignore"):
        bound: NDArray[np.float64] = np.finfo(x.dtype).eps * (8 + x.shape[1]) * oracle(x, y[:1], scale)
    return bound


def _drawn(rng: np.random.Generator, sizes: tuple[int, int, int], dtype: str) -> Inputs:
    rows, others, columns = sizes
    x, y = (rng.standard_normal((count, columns)).astype(dtype) for count in (rows, others))
    return x, y, rng.uniform(0.5, 2.0, columns).astype(dtype)


NEAREST = Task(
    summary="compute the distance to the nearest row, in a quarter of the baseline's peak memory",
    cost=PEAK_MEMORY,
    limits=Limits(memory_bytes=3 << 30),
    tiers=(Tier(1 / 0.8, 0.7), Tier(1 / 0.25, 1.0)),
    hints=(
        "How many bytes has x[:, None] - y? At most, how many arrays of this size exist at the same time?",
        (
            "A name keeps its tensor alive until the function ends or the name gets another value. An operation whose "
            "name ends in _ needs no new tensor. Which of your operations work on a tensor that you made yourself?"
        ),
        (
            "The answer of a row of x does not need the distances of other rows. Take 16 rows of x at a time "
            "(x.split(16)), keep only their answers, and join them with torch.cat at the end."
        ),
    ),
    exam=TensorExam(("x", "y", "scale"), cases, timed, oracle, allowed),
    read="lesson 10, “Do fewer lines need less memory?”",
    idea=(
        "The answer of a row does not need other rows, so a few rows are computed at a time. With 64 blocks, the array "
        "of differences is 64 times smaller. Within a block, working in place needs one array instead of three. Small "
        "blocks are also faster, because a small block stays in the cache."
    ),
    references=(
        "The documentation of torch.Tensor.split. memory_profiler's table of lines (lesson 10, “Line by line”) shows "
        "which line of your function makes the peak."
    ),
)
