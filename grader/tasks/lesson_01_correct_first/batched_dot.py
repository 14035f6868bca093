"""Task (a) of lesson 01: `batched_dot(a, b)` must be right for any shape, stride and dtype, and fast.

The function is timed on (512, 128) float32. There are many rows, because the time of the baseline, a loop of
`torch.dot`, is proportional to their number. The rows are short, so that all inputs fit into a core's own cache. With
four times as many numbers, the ratio of the solution depended on the size of the cache.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from grader.kinds.timing import TIME
from grader.task import Array, Inputs, Task, TensorExam, Tier

from .implementations import reference

TIMED_SHAPE = (512, 128)
SHAPES = ((0, 5), (3, 0), (0, 0), (1, 1), (1, 3), (4, 1), (3, 3), (2, 5), (7, 4))
DTYPES = ("float32", "float64", "int64")


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Return inputs of every dtype: small, larger, strided or shared tensors, sums that cancel, NaN and infinity."""
    drawn: list[Inputs] = [_pair(rng, shape, dtype) for dtype in DTYPES for shape in SHAPES]
    for dtype in DTYPES:
        for shape in ((1, 3), (3, 3), (5, 8)):
            a, b = _pair(rng, shape, dtype)
            drawn.append((a, np.ascontiguousarray(b.T).T))
            drawn.append((np.repeat(a, 2, axis=1)[:, ::2], b))
            drawn.append((a, np.broadcast_to(b[:1], shape)))
            drawn.append((a, a))
    drawn += [_cancelling(rng, dtype) for dtype in ("float32", "float64")]
    for value in (np.nan, np.inf):
        a, b = _pair(rng, (3, 4), "float32")
        a[1, 2] = value
        drawn.append((a, b))
    drawn += [_pair(rng, tuple(rng.integers(2, 200, size=2)), dtype) for dtype in DTYPES for _ in range(3)]
    return drawn


def timed(rngs: Iterator[np.random.Generator]) -> Iterator[Inputs]:
    """Yield random inputs of the timed shape without end, with numbers around 0."""
    for rng in rngs:
        a, b = (rng.random(TIMED_SHAPE, dtype=np.float32) for _ in range(2))
        a -= 0.5  # in place, because a new array takes as long as its random numbers
        b -= 0.5
        yield a, b


def oracle(a: Array, b: Array) -> NDArray[np.float64]:
    """Return the dot product of each row of `a` with the same row of `b`, computed with Python's int and float."""
    return np.array(reference(a, b)[0], dtype=np.float64)


def allowed(a: Array, b: Array) -> NDArray[np.float64]:
    """Return the bound on the rounding error of each row's sum, (n + 1)·eps·Σ|ab|, and 0 for whole numbers.

    The bound holds for any order of the additions.

    Source: Higham, Accuracy and Stability of Numerical Algorithms, section 3.1.
    """
    if a.dtype.kind in "iu":
        return np.zeros(len(a))
    bound: NDArray[np.float64] = (a.shape[1] + 1) * np.finfo(a.dtype).eps * np.array(reference(a, b)[1])
    return bound


def _pair(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Inputs:
    if dtype == "int64":
        return tuple(rng.integers(-1000, 1000, size=shape) for _ in range(2))
    return tuple(rng.standard_normal(shape).astype(dtype) for _ in range(2))


def _cancelling(rng: np.random.Generator, dtype: str) -> Inputs:
    a, b = _pair(rng, (3, 64), dtype)
    a[:, ::2], b[:, ::2] = 1e4, 1e4
    a[:, 2::4] *= -1
    return a, b


BATCHED_DOT = Task(
    summary="compute the dot products of matching rows: (batch, n) and (batch, n) give (batch,)",
    cost=TIME,
    tiers=(Tier(1.5, 0.6), Tier(3.5, 0.8), Tier(8, 1.0)),
    hints=(
        "How many torch functions does your code call from Python: a fixed number, or some for each row?",
        (
            "The operator * multiplies two whole tensors at once. What must your code then do with each row of the "
            "product?"
        ),
        "A sum along the last dimension turns (batch, n) into (batch,). Look up the dim argument of Tensor.sum.",
    ),
    exam=TensorExam(("a", "b"), cases, timed, oracle, allowed),
    read="lesson 01, “Two functions, one answer”",
    idea=(
        "The solution is one multiplication and one sum over whole tensors. The loop over the rows then runs inside "
        "torch. Inside torch, one step of the loop takes nanoseconds, but a call from Python takes microseconds. The "
        "sum keeps int64. torch adds floats pairwise instead of one after the other, so the rounding errors are "
        "smaller. Multiplication and sum also work for empty and strided inputs, so these inputs need no special case."
    ),
    references=(
        "Lesson 05 finds the sizes at which this solution is faster than a batched matrix product. Lesson 12 fuses "
        "the two operations into one pass over memory."
    ),
)
