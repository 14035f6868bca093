"""Nine implementations of dot products of matching rows: three are right, and six have a hidden fault.

They compute on NumPy arrays of float32, float64 or int64 that may be strided, broadcast, empty or the same array.
`reference` returns the right dot products, and for each of them the sum of the magnitudes of its products. Rounding
errors are proportional to this sum.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from grader.task import Array

Implementation = Callable[[Array, Array], Array]
"""A function of two arrays of shape (rows, n). It returns an array of shape (rows,) in their dtype."""


def reference(a: Array, b: Array, *more: Array) -> tuple[list[float], list[float]]:
    """Return the sum of the products in each row of the arrays, and the sum of the magnitudes of these products.

    All arrays have the same shape. For two arrays, the sums are the dot products of matching rows. Sums of integers
    are exact. Sums of floats are rounded once to float64.
    """
    together = zip(*(one.tolist() for one in (a, b, *more)), strict=True)
    rows = [list(map(math.prod, zip(*each, strict=True))) for each in together]
    total = sum if a.dtype.kind == "i" else _total
    return [total(row) for row in rows], [total(map(abs, row)) for row in rows]


def _total(numbers: Iterable[float]) -> float:
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # infinities of both signs
        return math.nan


def one_after_the_other(a: Array, b: Array) -> Array:
    """Return dot products. Add the products of a row from last to first, and round each partial sum to the dtype."""
    return np.array([_sum((x * y)[::-1], a.dtype) for x, y in zip(a, b, strict=True)], a.dtype)


def in_pairs(a: Array, b: Array) -> Array:
    """Return dot products: for each row, the sum of the products at even positions plus the sum at odd positions.

    The result is right, but rounded differently.
    """
    return _sums((x * y for x, y in zip(a, b, strict=True)), a.dtype)


def _sums(rows: Iterable[Array], dtype: np.dtype[Any]) -> Array:
    return np.array([_sum(row[::2], dtype) + _sum(row[1::2], dtype) for row in rows], dtype)


def _sum(row: Array, dtype: np.dtype[Any]) -> Any:
    return np.cumsum(np.append(0, row), dtype=dtype)[-1]


def exactly(a: Array, b: Array) -> Array:
    """Return dot products, each computed exactly and rounded once."""
    return np.array(reference(a, b)[0], a.dtype)


def in_single_precision(a: Array, b: Array) -> Array:
    """Return dot products with a fault: floats are added in float32, also if the inputs are float64."""
    return in_pairs(a, b) if a.dtype.kind == "i" else in_pairs(a.astype("f4"), b.astype("f4")).astype(a.dtype)


def without_nan(a: Array, b: Array) -> Array:
    """Return dot products with a fault: products that are NaN or infinite are replaced by finite numbers."""
    return _sums((np.nan_to_num(x * y) for x, y in zip(a, b, strict=True)), a.dtype)


def without_strides(a: Array, b: Array) -> Array:
    """Return dot products with a fault: memory is read from its start, as if every array were contiguous."""
    return in_pairs(*(np.resize(array if array.base is None else array.base, a.shape) for array in (a, b)))


def in_place(a: Array, b: Array) -> Array:
    """Return dot products with a fault: the products are written into the caller's array `a`."""
    np.multiply(a, b, out=a)
    return _sums(a, a.dtype)


def without_empty_rows(a: Array, b: Array) -> Array:
    """Return dot products with a fault: if the rows are empty, the array is empty too."""
    return in_pairs(a, b) if a.shape[1] else a.reshape(0)


def through_float64(a: Array, b: Array) -> Array:
    """Return dot products with a fault: whole numbers are computed in float64, which is exact only up to 2⁵³."""
    return in_pairs(a.astype("f8"), b.astype("f8")).astype(a.dtype)
