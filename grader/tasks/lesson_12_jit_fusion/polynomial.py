"""Task (a) of lesson 12: `polynomial(x)`, a polynomial of degree 11, in one or many passes over memory.

Memory is the bottleneck here, not arithmetic. For each of twelve coefficients, the baseline makes three passes.
Horner's method gains 1.8×, with torch.addcmul 2.2 to 4.4×. One loop compiled by numba gains 6.7 to 16×. The timed
numbers take 4 MiB. 1 MiB would fit into the level 2 cache of some processors, where passes are cheap. The numbers are
float64, because `numba.vectorize` computes float32 numbers with Python's float coefficients in float64.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.kinds.timing import TIME
from grader.task import Array, Inputs, Task, TensorExam, Tier, endless

COEFFICIENTS: Final = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)
"""The coefficients of the polynomial. Each is a binary fraction, so it is the same number in float32 and float64."""

NUMBERS: Final = 1 << 19
SHAPES: Final = ((0,), (1,), (7,), (0, 4), (3, 5), (16, 16), (3, 8, 6))


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Return small inputs in float32 and float64, views, and special values such as NaN."""
    drawn: list[Inputs] = []
    for dtype in ("float32", "float64"):
        drawn += [(_numbers(rng, shape, dtype),) for shape in SHAPES]
        wide = _numbers(rng, (6, 10), dtype)
        drawn += [(wide.T,), (wide[:, ::2],), (np.broadcast_to(wide[:1], (4, 10)),), (wide[1:3],)]
        drawn.append((_numbers(rng, (3, 4, 5), dtype).transpose(2, 0, 1),))
        drawn.append((np.array([np.nan, 0.0, -0.0, 1.0, -1.0, 1.5, -1.5], dtype=dtype),))
    return drawn


timed = endless(lambda rng: (_numbers(rng, (NUMBERS,), "float64"),))
"""Random inputs of the timed size."""


def oracle(x: Array) -> NDArray[np.float64]:
    """Return the polynomial in float64, computed term by term.

    Each power is computed by itself, so the oracle is slower than the baseline. If each power came from the last one,
    the oracle would be 1.36 times as fast as the baseline, and would reach a tier.
    """
    return _sum_of_powers(x.astype(np.float64), COEFFICIENTS)


def allowed(x: Array) -> NDArray[np.float64]:
    """Return the allowed error: 36 roundings of the sum of the magnitudes of the terms."""
    sizes = _sum_of_powers(np.abs(x.astype(np.float64)), tuple(abs(each) for each in COEFFICIENTS))
    bound: NDArray[np.float64] = 18 * np.finfo(x.dtype).eps * sizes
    return bound


def operations(x: Array) -> float:
    """Return the operations of eleven steps of Horner's method per number.

    A polynomial of degree n needs n additions, even if its coefficients may be prepared (Belaga 1958). A processor can
    add a product in each step, but not more than one number, so eleven steps are necessary.
    """
    return 2.0 * (len(COEFFICIENTS) - 1) * x.size


def _sum_of_powers(x: NDArray[np.float64], coefficients: tuple[float, ...]) -> NDArray[np.float64]:
    total = np.zeros_like(x)
    for exponent, coefficient in enumerate(coefficients):
        total = total + coefficient * x**exponent
    return total


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    return rng.uniform(-1.5, 1.5, shape).astype(dtype)


POLYNOMIAL = Task(
    summary="compute a polynomial of every number, in one pass over memory",
    cost=TIME,
    tiers=(Tier(1.35, 0.7), Tier(5.6, 1.0)),
    hints=(
        "How many passes over memory does the baseline make? How many passes does the polynomial need?",
        (
            "Horner's method needs no powers: c0 + x (c1 + x (c2 + …)). torch.addcmul computes one step of Horner's "
            "method in one pass. But each torch operation still reads and writes all numbers."
        ),
        (
            "Write the loop over the numbers yourself, for NumPy arrays of one dimension. For i in range(x.size), take "
            "v = x[i], compute Horner's method with v, and set out[i]. numba.njit compiles it to machine code. Call "
            "the compiled function with x.contiguous().view(-1).numpy(), and return "
            "torch.from_numpy(out).view(x.shape)."
        ),
    ),
    exam=TensorExam(("x",), cases, timed, oracle, allowed, operations=operations),
    least_gain=1.5,
    read="lesson 12, “One pass instead of eight”",
    idea=(
        "The solution is one loop, compiled by numba. This loop reads each number once, computes with several numbers "
        "at a time in registers, and writes each answer once. The arithmetic is the same as in Horner's method in "
        "torch, but no intermediate tensors are written and read. Coefficients have the dtype of x. Otherwise the loop "
        "would compute float32 numbers in float64, and a register holds only half as many float64 numbers."
    ),
    references=(
        "numba's documentation on performance and on @vectorize; the documentation of torch.compile, which generates "
        "such loops."
    ),
)
