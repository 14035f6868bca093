"""Task (a) of lesson 01: `batched_dot(a, b, w)` must be right for any shape, stride and dtype, and fast.

The answer is a weighted sum, because the functions that the lesson teaches are right and fast without weights. The
function is timed on (512, 128) float32. There are many rows, because the time of the baseline, a loop of `torch.dot`,
is proportional to their number. The rows are short, so that all inputs fit into a core's own cache. With
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
    drawn: list[Inputs] = [_inputs(rng, shape, dtype) for dtype in DTYPES for shape in SHAPES]
    for dtype in DTYPES:
        for shape in ((1, 3), (3, 3), (5, 8)):
            a, b, w = _inputs(rng, shape, dtype)
            drawn.append((a, np.ascontiguousarray(b.T).T, w))
            drawn.append((np.repeat(a, 2, axis=1)[:, ::2], b, np.repeat(w, 2)[::2]))
            drawn.append((a, np.broadcast_to(b[:1], shape), np.broadcast_to(w[:1], w.shape)))
            drawn.append((a, a, w))
            drawn.append((a, b, a[-1]))
    drawn += [_cancelling(rng, dtype) for dtype in ("float32", "float64")]
    for value in (np.nan, np.inf):
        a, b, w = _inputs(rng, (3, 4), "float32")
        a[1, 2] = value
        drawn.append((a, b, w))
    drawn += [_inputs(rng, tuple(rng.integers(2, 200, size=2)), dtype) for dtype in DTYPES for _ in range(3)]
    return drawn


def timed(rngs: Iterator[np.random.Generator]) -> Iterator[Inputs]:
    """Yield random inputs of the timed shape without end, with numbers around 0."""
    for rng in rngs:
        a, b, w = (rng.random(shape, dtype=np.float32) for shape in (TIMED_SHAPE, TIMED_SHAPE, TIMED_SHAPE[1:]))
        for array in (a, b, w):
            np.subtract(array, 0.5, out=array)  # in place, because a new array takes as long as its random numbers
        yield a, b, w


def oracle(a: Array, b: Array, w: Array) -> NDArray[np.float64]:
    """Return the weighted dot product of each row of `a` with the same row of `b`, with Python's int and float."""
    return np.array(reference(a, b, np.broadcast_to(w, a.shape))[0], dtype=np.float64)


def allowed(a: Array, b: Array, w: Array) -> NDArray[np.float64]:
    """Return the bound on the rounding error of each row's sum, (n + 2)·eps·Σ|abw|, and 0 for whole numbers.

    Each product of three numbers is rounded twice. The bound holds for any order of the operations.

    Source: Higham, Accuracy and Stability of Numerical Algorithms, section 3.1.
    """
    if a.dtype.kind in "iu":
        return np.zeros(len(a))
    magnitudes = np.array(reference(a, b, np.broadcast_to(w, a.shape))[1])
    bound: NDArray[np.float64] = (a.shape[1] + 2) * np.finfo(a.dtype).eps * magnitudes
    return bound


def _inputs(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Inputs:
    shapes = (shape, shape, shape[1:])
    if dtype == "int64":
        return tuple(rng.integers(-1000, 1000, size=one) for one in shapes)
    return tuple(rng.standard_normal(one).astype(dtype) for one in shapes)


def _cancelling(rng: np.random.Generator, dtype: str) -> Inputs:
    a, b, w = _inputs(rng, (3, 64), dtype)
    a[:, ::2], b[:, ::2], w[::2] = 1e4, 1e4, 1
    a[:, 2::4] *= -1
    return a, b, w


BATCHED_DOT = Task(
    summary="compute the weighted dot products of matching rows: (batch, n), (batch, n) and (n,) give (batch,)",
    cost=TIME,
    tiers=(Tier(1.5, 0.6), Tier(3.5, 0.8), Tier(8, 1.0)),
    hints=(
        "How many torch functions does your code call from Python: a fixed number, or some for each row?",
        (
            "The operator * multiplies whole tensors at once, and multiplies each row by `w`. What must your code then "
            "do with each row of the product?"
        ),
        "A sum along the last dimension turns (batch, n) into (batch,). Look up the dim argument of Tensor.sum.",
    ),
    exam=TensorExam(("a", "b", "w"), cases, timed, oracle, allowed),
    read="lesson 01, “Two functions, one answer”",
    idea=(
        "The solution is two multiplications and one sum over whole tensors. The loop over the rows then runs inside "
        "torch. Inside torch, one step of the loop takes nanoseconds, but a call from Python takes microseconds. The "
        "sum keeps int64. torch adds floats pairwise instead of one after the other, so the rounding errors are "
        "smaller. Multiplication and sum also work for empty and strided inputs, so these inputs need no special case."
    ),
    references=(
        "Lesson 05 finds the sizes at which a product and a sum are faster than a batched matrix product. Lesson 12 "
        "fuses such operations into one pass over memory."
    ),
)
