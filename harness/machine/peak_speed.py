"""Measure the peak speed of one CPU core: bytes read per second, and float32 operations per second.

No program on this core can be faster (Williams, Waterman and Patterson, Roofline, 2009). A disturbance can only make a
measured speed too low, so keep the best of several calls. The caller binds the process to one core, and limits torch to
one thread. This file imports no other module of fairclock, so that its text can also be run in another process.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import as_strided

TRIES = 20  # the best try of a measurement counts

# The smallest number of bytes that one try reads. One call of NumPy then takes much less time than the reading.
READ_BYTES = 4 << 20

# NumPy multiplies small matrices, for which it uses one thread, and torch large ones.
SMALL_SIDE, SMALL_PRODUCTS, LARGE_SIDE = 64, 64, 384


def read_bytes_per_s(size_bytes: int) -> float:
    """Return how many bytes per second this core reads from data of this size, in the fastest cache that holds it.

    Each try finds the largest number of the data again and again, which takes NumPy no longer than reading.
    """
    data = np.ones(max(size_bytes, 4096) // 4, np.int32)
    again = max(1, READ_BYTES // data.nbytes)
    rows = as_strided(data, (again, data.size), (0, data.itemsize))
    largest = np.empty(again, np.int32)
    return rows.nbytes / _shortest_s(lambda: np.maximum.reduce(rows, axis=1, out=largest))


def operations_per_s() -> float:
    """Return how many float32 additions and multiplications per second this core makes in products of matrices.

    The libraries of NumPy and torch use different vector instructions, so the better of the two counts.
    """
    import torch  # noqa: PLC0415 - takes more than a second, and reading speeds do not need it

    shape = (SMALL_PRODUCTS, SMALL_SIDE, SMALL_SIDE)
    ones = np.ones((SMALL_SIDE, SMALL_SIDE), np.float32)
    many = as_strided(ones, shape, (0, *ones.strides))
    product = np.empty(shape, np.float32)
    small_s = _shortest_s(lambda: np.matmul(many, ones, out=product)) / SMALL_PRODUCTS
    large = torch.ones(LARGE_SIDE, LARGE_SIDE)
    out = torch.empty_like(large)
    large_s = _shortest_s(lambda: torch.mm(large, large, out=out))
    return max(2 * SMALL_SIDE**3 / small_s, 2 * LARGE_SIDE**3 / large_s)


def _shortest_s(run: Callable[[], object]) -> float:
    shortest_s = float("inf")
    for _ in range(TRIES):
        began_s = time.perf_counter()
        run()
        shortest_s = min(shortest_s, time.perf_counter() - began_s)
    return shortest_s
