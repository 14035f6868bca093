"""Task (a): `polynomial(x)`, eleven powers of every number, in one pass over memory or in many.

The plain way takes a product, a sum and the next power for each of twelve coefficients: 36 passes, and a new tensor in
each. Horner's way takes 22, which gains 1.7×, and with torch.addcmul 11, which gains 2.7×. All of that is memory, not
arithmetic: compiled by numba, one loop reads each number once and keeps what is between in registers. In the
grader's workers, which keep their memory, that gains 13 to 16×; numba.vectorize with coefficients of Python's own,
float64 inside, 8 to 9×. So full marks are at 5×, which no sequence of torch's operations reached. Between Horner's way
(1.7 to 1.9×) and addcmul (2.7 to 3×) no tier fits, so both earn the same.
(Measured on a 2-core VM, torch 2.13, numba 0.68.)
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.records import Cost
from grader.task import Array, Inputs, Task, TensorExam, Tier

COEFFICIENTS: Final = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)
"""As in the exercise's file: each is a binary fraction, the same number in both dtypes."""

NUMBERS: Final = 1 << 18
SHAPES: Final = ((0,), (1,), (7,), (0, 4), (3, 5), (16, 16), (3, 8, 6))


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Draw every small shape in both dtypes, contiguous and not; then what is easily overlooked."""
    drawn: list[Inputs] = []
    for dtype in ("float32", "float64"):
        drawn += [(_numbers(rng, shape, dtype),) for shape in SHAPES]
        wide = _numbers(rng, (6, 10), dtype)
        drawn += [(wide.T,), (wide[:, ::2],), (np.broadcast_to(wide[:1], (4, 10)),), (wide[1:3],)]
        drawn.append((_numbers(rng, (3, 4, 5), dtype).transpose(2, 0, 1),))
        drawn.append((np.array([np.nan, 0.0, -0.0, 1.0, -1.0, 1.5, -1.5], dtype=dtype),))
    return drawn


def timed(rng: np.random.Generator) -> Iterator[Inputs]:
    """Draw new numbers for each call."""
    while True:
        yield (_numbers(rng, (NUMBERS,), "float32"),)


def oracle(x: Array) -> NDArray[np.float64]:
    """Return the polynomial in float64, as the exercise writes it."""
    return _sum_of_powers(x.astype(np.float64), COEFFICIENTS)


def allowed(x: Array) -> NDArray[np.float64]:
    """A rounding for each of 36 operations, relative to the sum of the terms' sizes."""
    sizes = _sum_of_powers(np.abs(x.astype(np.float64)), tuple(abs(each) for each in COEFFICIENTS))
    bound: NDArray[np.float64] = 18 * np.finfo(x.dtype).eps * sizes
    return bound


def _sum_of_powers(x: NDArray[np.float64], coefficients: tuple[float, ...]) -> NDArray[np.float64]:
    total, power = np.zeros_like(x), np.ones_like(x)
    for coefficient in coefficients:
        total = total + power * coefficient
        power = power * x
    return total


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    return rng.uniform(-1.5, 1.5, shape).astype(dtype)


POLYNOMIAL = Task(
    lesson="12_jit_fusion",
    name="polynomial",
    summary="eleven powers of every number, in one pass over memory",
    points=10.0,
    cost=Cost.TIME,
    tiers=(Tier(1.35, 0.7), Tier(5.0, 1.0)),
    hints=(
        "How many passes over memory does the plain way make, and how many of them does the polynomial need?",
        (
            "Horner's way needs no powers: c0 + x (c1 + x (c2 + …)), and torch.addcmul does a step of it in one pass. "
            "But each operation of torch still reads and writes all numbers."
        ),
        (
            "Write the loop over the numbers yourself, for NumPy arrays of one dimension: for i in range(x.size), take "
            "v = x[i], do all of Horner's way with v, and put out[i]. numba.njit makes it machine code. Give it "
            "x.contiguous().view(-1).numpy(), and return torch.from_numpy(out).view(x.shape)."
        ),
    ),
    exam=TensorExam(("x",), cases, timed, oracle, allowed),
    folder=Path(__file__).parent,
    read="lesson 12, step 3",
    idea=(
        "one loop, compiled by numba: each number is read once, all operations on it happen in registers, several "
        "numbers at a time, and the answer is written once. The arithmetic is no less than before; what is gone is "
        "reading and writing tensors in between, and making them. Coefficients have the dtype of x, for in float64 "
        "half as many numbers fit in a register."
    ),
    read_on="numba's documentation on performance and on @vectorize; torch.compile, which writes such loops by itself.",
)
