"""Task (b) of lesson 07: `larger_squared(x, y)`, an elementwise operation on operands with different memory layouts.

The function is timed on 512 × 1024 float32 numbers, where one of the two inputs is transposed. The baseline makes six
operations on mixed layouts. `maximum` and `minimum` alone gain 2.5 to 3.8×, and with one transposing copy before them
7.7 to 19×.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from grader.kinds.timing import TIME
from grader.task import Array, Inputs, Task, TensorExam, Tier

TIMED_SHAPES = ((512, 1024), (1024, 512))
"""The shape of the timed inputs, if the first one is transposed, and if the second one is transposed.

torch computes in the order in which the first input lies in memory. In the second input, neighbouring numbers of this
order are 4 KiB apart. So they compete for a few places in the core's caches.
"""
SHAPES = ((0,), (1,), (5,), (0, 4), (1, 7), (3, 4), (8, 8), (2, 3, 4), (4, 1, 5))
DTYPES = ("float32", "float64", "int64")


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Return small inputs of every dtype with random layouts, shared and expanded inputs, NaN and infinity."""
    drawn: list[Inputs] = []
    for dtype in DTYPES:
        for shape in SHAPES:
            drawn.append((_numbers(rng, shape, dtype), _numbers(rng, shape, dtype)))
            drawn.append((_laid_out(rng, shape, dtype), _laid_out(rng, shape, dtype)))
        x = _numbers(rng, (5, 6), dtype)
        drawn += [(x, x), (x, np.broadcast_to(x[:1], x.shape)), (x[:, ::2], x[:, 1::2])]
        square = _numbers(rng, (6, 6), dtype)
        drawn += [(square, square.T), (_laid_out(rng, (90, 70), dtype), _numbers(rng, (90, 70), dtype))]
        drawn.append((_numbers(rng, (128, 128), dtype), _numbers(rng, (128, 128), dtype).T))
    for value in (np.nan, np.inf, -np.inf):
        x = _numbers(rng, (3, 4), "float32")
        y = x.copy()
        y[1, 2] = value
        drawn += [(x, y), (y, x)]
    return drawn


def timed(rngs: Iterator[np.random.Generator]) -> Iterator[Inputs]:
    """Yield pairs of random matrices without end. In all pairs the same one of the two is transposed."""
    turned = int(next(rngs).integers(2))
    shape = TIMED_SHAPES[turned]
    for rng in rngs:
        matrices = [rng.random(one, dtype=np.float32) - 0.5 for one in (shape, shape[::-1])]
        plain, transposed = matrices[0], matrices[1].T
        yield (transposed, plain) if turned == 0 else (plain, transposed)


def oracle(x: Array, y: Array) -> NDArray[np.float64]:
    """Return max(x, y)² - min(x, y) in float64, by the slow formula of the exercise."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        answer: NDArray[np.float64] = np.where(x > y, x, y) * np.where(x > y, x, y) - np.where(x > y, y, x)
    return answer


def allowed(x: Array, y: Array) -> NDArray[np.float64]:
    """Return the allowed error: two roundings of each of the two terms, or 0 for whole numbers."""
    if x.dtype.kind in "iu":
        return np.zeros(x.shape)
    high, low = np.where(x > y, x, y).astype(np.float64), np.where(x > y, y, x).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        bound: NDArray[np.float64] = 2 * np.finfo(x.dtype).eps * (high * high + np.abs(low))
    return bound


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    if dtype == "int64":
        return rng.integers(-1000, 1000, size=shape)
    return rng.standard_normal(shape).astype(dtype)


def _laid_out(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    order = rng.permutation(len(shape))
    steps = rng.choice([1, 2, 3], size=len(shape), p=[0.6, 0.2, 0.2])
    wide = _numbers(rng, tuple(shape[axis] * steps[axis] for axis in order), dtype)
    array = wide.transpose(np.argsort(order))
    return array[tuple(slice(0, size * step, step) for size, step in zip(shape, steps, strict=True))]


LARGER_SQUARED = Task(
    summary="compute max(x, y)² - min(x, y) on operands with different memory layouts",
    cost=TIME,
    tiers=(Tier(1.95, 0.7), Tier(5.0, 1.0)),
    hints=(
        "Print x.stride() and y.stride(). How far apart in memory are neighbouring elements of each operand?",
        (
            "Every operation on both x and y is slow because of their different strides. How many operations of your "
            "function use both x and y? Can you transpose one input once, before these operations? Can you compute the "
            "answer with fewer operations?"
        ),
        (
            "x.contiguous() copies tile by tile, and does nothing if x is contiguous already. On two contiguous "
            "tensors you only need torch.maximum and torch.minimum. Then mul_ and sub_ can work in place on your new "
            "tensor."
        ),
    ),
    exam=TensorExam(("x", "y"), cases, timed, oracle, allowed),
    read="lesson 07, “The same sum, much slower”",
    idea=(
        "The solution copies one input to the memory layout of the other. torch makes this copy tile by tile. So the "
        "operations do not read one input with large strides. Only two operations then need both inputs: maximum and "
        "minimum. All other operations work in place, on a new tensor."
    ),
    references=(
        "Drepper, What Every Programmer Should Know About Memory, section 6.2, explains access in tiles. See also the "
        "documentation of torch.Tensor.contiguous."
    ),
    least_gain=1.5,
)
