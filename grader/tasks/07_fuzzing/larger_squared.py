"""Task (b): `larger_squared(x, y)`, an elementwise operation on operands that lie differently in memory.

Timed on (1024, 1024) float32, one of the two transposed; which of them is drawn for each submission. There the plain
line meets both orders in six operations, at 4 to 7 ms each, while a transposing copy takes 1 ms: copying once and
writing max² - min gains 8 to 11×, so full marks are at 4.2×. Naming the larger and the smaller gains 1.5×, `maximum`
and `minimum` 3×: a tier at 2.1 lies between. `least_gain` is 1.7, because full marks must also be well above 3×.
(Measured on a 2-core VM, torch 2.13 and 2.15.)
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grader.records import Cost
from grader.task import Array, Inputs, Task, TensorExam, Tier

SIDE = 1024
SHAPES = ((0,), (1,), (5,), (0, 4), (1, 7), (3, 4), (8, 8), (2, 3, 4), (4, 1, 5))
DTYPES = ("float32", "float64", "int64")


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Draw every small shape in every dtype, each with memory laid out at random; then what is easily overlooked."""
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


def timed(rng: np.random.Generator) -> Iterator[Inputs]:
    """Draw two new squares for each call; one of them, the same each time, is looked at transposed."""
    turned = int(rng.integers(2))
    while True:
        squares = [rng.random((SIDE, SIDE), dtype=np.float32) - 0.5 for _ in range(2)]
        squares[turned] = squares[turned].T
        yield tuple(squares)


def oracle(x: Array, y: Array) -> NDArray[np.float64]:
    """Return the square of the larger less the smaller, in float64 and as the exercise writes it."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        answer: NDArray[np.float64] = np.where(x > y, x, y) * np.where(x > y, x, y) - np.where(x > y, y, x)
    return answer


def allowed(x: Array, y: Array) -> NDArray[np.float64]:
    """Two roundings of its two terms; whole numbers have none."""
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
    """Numbers of this shape whose axes lie in random order, in random steps: what a FuzzedTensor does."""
    order = rng.permutation(len(shape))
    steps = rng.choice([1, 2, 3], size=len(shape), p=[0.6, 0.2, 0.2])
    wide = _numbers(rng, tuple(shape[axis] * steps[axis] for axis in order), dtype)
    array = wide.transpose(np.argsort(order))
    return array[tuple(slice(0, size * step, step) for size, step in zip(shape, steps, strict=True))]


LARGER_SQUARED = Task(
    lesson="07_fuzzing",
    name="larger_squared",
    summary="max(x, y)² - min(x, y) on operands that lie differently in memory",
    points=10.0,
    cost=Cost.TIME,
    tiers=(Tier(2.1, 0.7), Tier(4.2, 1.0)),
    hints=(
        "Print x.stride() and y.stride(). How far does torch jump in each operand from one element to the next?",
        (
            "Every operation between x and y jumps anew. How many such operations are there? Can the transposing be "
            "paid for once, before them? And can the answer be written with fewer?"
        ),
        (
            "x.contiguous() copies tile by tile, and costs nothing where nothing is to be done. On two contiguous "
            "tensors, torch.maximum and torch.minimum say it all; mul_ and sub_ then work in a tensor that is yours."
        ),
    ),
    exam=TensorExam(("x", "y"), cases, timed, oracle, allowed),
    folder=Path(__file__).parent,
    read="lesson 07, step 4",
    idea=(
        "pay for the transposing once, in a copy that torch makes tile by tile, instead of in each of six operations; "
        "then write the answer with two operations, maximum and minimum, and finish in place, in memory that is ours."
    ),
    read_on=(
        "Drepper, What Every Programmer Should Know About Memory, section 6.2, on access in tiles; "
        "torch.Tensor.contiguous."
    ),
    least_gain=1.7,
)
