"""`batched_dot(a, b)`: right on any shape, stride and dtype first, then fast.

Timed on (512, 128) float32: many rows, for the baseline's price is one of each row, and short ones, so that all inputs
fit any core's own cache. There a call of the solution costs several times what asking for it costs. Against a loop of
`torch.dot`, multiplying and summing whole tensors gains about 26×, einsum about 17×, so full marks are at 8×. With four
times as many numbers the gain was 17× on one machine and 6× on another, which has to fetch them from farther away.
(Measured with `grader lint` on 2-core VMs, torch 2.13.)
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grader.records import Cost
from grader.task import Array, Inputs, Task, TensorExam, Tier

from .implementations import reference

TIMED_SHAPE = (512, 128)
SHAPES = ((0, 5), (3, 0), (0, 0), (1, 1), (1, 3), (4, 1), (3, 3), (2, 5), (7, 4))
DTYPES = ("float32", "float64", "int64")


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Every small shape in every dtype, then views, shared memory, hard sums, special values, and larger shapes."""
    drawn: list[Inputs] = [_pair(rng, shape, dtype) for dtype in DTYPES for shape in SHAPES]
    for dtype in DTYPES:
        for shape in ((1, 3), (3, 3), (5, 8)):
            a, b = _pair(rng, shape, dtype)
            drawn.append((a, _transposed(b)))
            drawn.append((_every_other(a), b))
            drawn.append((a, np.broadcast_to(b[:1], shape)))
            drawn.append((a, a))
    drawn += [_cancelling(rng, dtype) for dtype in ("float32", "float64")]
    for value in (np.nan, np.inf):
        a, b = _pair(rng, (3, 4), "float32")
        a[1, 2] = value
        drawn.append((a, b))
    drawn += [_pair(rng, tuple(rng.integers(2, 200, size=2)), dtype) for dtype in DTYPES for _ in range(3)]
    return drawn


def timed(rng: np.random.Generator) -> Iterator[Inputs]:
    """Draw new numbers around 0 for each call, in the timed shape."""
    while True:
        yield tuple(rng.random(TIMED_SHAPE, dtype=np.float32) - 0.5 for _ in range(2))


def oracle(a: Array, b: Array) -> NDArray[np.float64]:
    """Return the sums, one row after the other, in Python's own numbers."""
    return np.array(reference(a, b)[0], dtype=np.float64)


def allowed(a: Array, b: Array) -> NDArray[np.float64]:
    """The error bound of summing n rounded products in any order, n·eps·Σ|ab|; whole numbers have none.

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


def _transposed(array: Array) -> Array:
    """The same numbers, with neighbours of a row far apart in memory."""
    return np.ascontiguousarray(array.T).T


def _every_other(array: Array) -> Array:
    """The same numbers, as every other column of a wider array."""
    wide = np.repeat(array, 2, axis=1)
    return wide[:, ::2]


def _cancelling(rng: np.random.Generator, dtype: str) -> Inputs:
    """Sums of 64 products whose exact answer float32 cannot carry: a large value comes and goes."""
    a, b = _pair(rng, (3, 64), dtype)
    a[:, ::2], b[:, ::2] = 1e4, 1e4
    a[:, 2::4] *= -1
    return a, b


TASK = Task(
    lesson="01_correct_first",
    name="batched_dot",
    summary="dot products of matching rows: (batch, n) and (batch, n) give (batch,)",
    points=10,
    cost=Cost.TIME,
    tiers=(Tier(1.5, 0.6), Tier(3.5, 0.8), Tier(8, 1.0)),
    hints=(
        "How many times does Python itself do something while your function runs: once, or once a row?",
        "torch multiplies two whole tensors at once with *. What is left to do with each row of the product?",
        "A sum along the last dimension turns (batch, n) into (batch,): look up the dim argument of Tensor.sum.",
    ),
    exam=TensorExam(("a", "b"), cases, timed, oracle, allowed),
    folder=Path(__file__).parent,
    read="lesson 01, step 1",
    idea=(
        "one multiplication and one sum over whole tensors. The loop over the rows then runs inside torch, where a "
        "step costs nanoseconds instead of the microseconds that a call from Python costs. The sum keeps int64 as it "
        "is, and adds floats in a tree instead of one after the other, which rounds less. Empty and strided inputs "
        "need no case of their own: both operations are defined for them."
    ),
    read_on="lesson 05 asks at which sizes this beats a batched matrix product; lesson 12 makes one pass of the two.",
)
