"""Nine ways to take the dot products of matching rows: three right ones, and six that look right.

All of them run for real, on NumPy arrays of float32, float64 or int64 that may be strided, broadcast, empty or the very
same array. `reference` is what they are compared with: each value, and the sum of the magnitudes that went into it,
which is what rounding errors are in proportion to. Each goes row by row, because operations on whole arrays would be an
answer to `batched_dot`.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from grader.task import Array

Implementation = Callable[[Array, Array], Array]
"""Takes a and b of shape (rows, n) and gives (rows,) in their dtype."""


def reference(a: Array, b: Array) -> tuple[list[float], list[float]]:
    """Return values and magnitudes of all rows: whole numbers exactly, others as exactly as a float64 can say."""
    rows = [[x * y for x, y in zip(*pair, strict=True)] for pair in zip(a.tolist(), b.tolist(), strict=True)]
    total = sum if a.dtype.kind == "i" else _total
    return [total(row) for row in rows], [total(map(abs, row)) for row in rows]


def _total(numbers: Iterable[float]) -> float:
    """Add up without rounding in between; NaN where that leaves what a float can say."""
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # infinities of both signs
        return math.nan


def one_after_the_other(a: Array, b: Array) -> Array:
    """Add from the last product to the first, each sum rounded to the dtype."""
    return np.array([_sum((x * y)[::-1], a.dtype) for x, y in zip(a, b, strict=True)], a.dtype)


def in_pairs(a: Array, b: Array) -> Array:
    """Multiply, then add up every other product, and the rest: that rounds elsewhere."""
    return _sums((x * y for x, y in zip(a, b, strict=True)), a.dtype)


def _sums(rows: Iterable[Array], dtype: np.dtype[Any]) -> Array:
    return np.array([_sum(row[::2], dtype) + _sum(row[1::2], dtype) for row in rows], dtype)


def _sum(row: Array, dtype: np.dtype[Any]) -> Any:
    """Add from the first number to the last, each sum rounded to the dtype."""
    return np.cumsum(np.append(0, row), dtype=dtype)[-1]


def exactly(a: Array, b: Array) -> Array:
    """Round once, at the very end."""
    return np.array(reference(a, b)[0], a.dtype)


def in_single_precision(a: Array, b: Array) -> Array:
    """Add up in float32 whatever the inputs are."""
    return in_pairs(a, b) if a.dtype.kind == "i" else in_pairs(a.astype("f4"), b.astype("f4")).astype(a.dtype)


def without_nan(a: Array, b: Array) -> Array:
    """Replace NaN and infinity by numbers."""
    return _sums((np.nan_to_num(x * y) for x, y in zip(a, b, strict=True)), a.dtype)


def without_strides(a: Array, b: Array) -> Array:
    """Read memory from its beginning, as if every array lay there row by row."""
    return in_pairs(*(np.resize(array if array.base is None else array.base, a.shape) for array in (a, b)))


def in_place(a: Array, b: Array) -> Array:
    """Keep the products in a, the caller's own."""
    np.multiply(a, b, out=a)
    return _sums(a, a.dtype)


def without_empty_rows(a: Array, b: Array) -> Array:
    """Give no answer at all for rows in which there is nothing."""
    return in_pairs(a, b) if a.shape[1] else a.reshape(0)


def through_float64(a: Array, b: Array) -> Array:
    """Compute whole numbers in float64, which has 53 bits for them where int64 has 63."""
    return in_pairs(a.astype("f8"), b.astype("f8")).astype(a.dtype)
