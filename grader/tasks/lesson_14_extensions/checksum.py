"""The task of lesson 14: `checksum`, the CRC-32 of some bytes, in C.

Each step needs the result of the step before, so torch has no operation for it. The baseline is C code that handles one
bit at a time. One table gains 4×, four tables 13×, and sixteen 30×. The compiler clang makes a faster baseline, so
there the gains are 2.8×, 8.4× and 16×. A Python loop is not the baseline, because its ratio depends on the version.
"""

import zlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.kinds.timing import TIME
from grader.task import Array, Inputs, Task, TensorExam, Tier, endless

BYTES: Final = 1 << 17
SIZES: Final = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 64, 100, 1000)


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Return inputs of small sizes at all eight alignments, empty inputs, and inputs of equal bytes."""
    drawn: list[Inputs] = [(np.empty(0, np.uint8),), (_bytes(rng, 9)[4:4],)]
    for at, size in enumerate(SIZES):
        drawn += [(_bytes(rng, size + 16)[start : start + size],) for start in (at % 8, (at + 3) % 8)]
    drawn += [(_bytes(rng, 64)[start : start + 40],) for start in range(8)]
    drawn += [(np.full(size, value, np.uint8),) for size in (1, 8, 21) for value in (0, 127, 128, 255)]
    return drawn


timed = endless(lambda rng: (_bytes(rng, BYTES),))
"""Random bytes of the timed size."""


def oracle(data: Array) -> NDArray[np.float64]:
    """Return the four bytes of zlib's CRC-32, little-endian."""
    return np.array([*zlib.crc32(data.tobytes()).to_bytes(4, "little")], dtype=np.float64)


def allowed(_: Array) -> NDArray[np.float64]:
    """Return 0 for each byte, because a checksum is exact."""
    return np.zeros(4)


def _bytes(rng: np.random.Generator, size: int) -> Array:
    return rng.integers(0, 256, size, dtype=np.uint8)


CHECKSUM = Task(
    summary="compute the CRC-32 of some bytes, in C",
    cost=TIME,
    tiers=(Tier(2.0, 0.7), Tier(6.0, 1.0)),
    hints=(
        (
            "Begin with C code that makes the exercise's eight steps for each byte. Which part of this code takes the "
            "most time?"
        ),
        (
            "The result of the eight steps for the lowest byte depends only on this byte. Compute the results once "
            "for all 256 bytes, and keep them in a table. Then a byte needs only one look-up: crc = table[(crc ^ "
            "byte) & 255] ^ (crc >> 8)."
        ),
        (
            "Each look-up waits for the result of the previous look-up. Make seven more tables, the n-th for a byte "
            "that n zero bytes follow: table[n][i] = (table[n - 1][i] >> 8) ^ table[0][table[n - 1][i] & 255]. Read "
            "eight bytes with memcpy, which works for any address, and xor crc into the first four. Then combine the "
            "results of the eight look-ups with xor. The first of the eight bytes uses table[7], and the last uses "
            "table[0]. Handle the remaining bytes one by one. With sixteen tables, you can read sixteen bytes at a "
            "time in the same way."
        ),
    ),
    exam=TensorExam(("data",), cases, timed, oracle, allowed, in_c=True),
    read="lesson 14, “ctypes: plain C without Python.h”",
    idea=(
        "The solution handles sixteen bytes at a time. A checksum is linear, so each of the sixteen bytes contributes "
        "a term that depends only on its value and its position. There is one table of terms for each position. The "
        "processor can do several look-ups in these tables at the same time. memcpy reads the bytes, because it works "
        "at any address, and the compiler turns the call into a single instruction. A pointer to uint32_t would "
        "require an aligned address, which the bytes may not have."
    ),
    references="Kounavis and Berry, Novel Table Lookup-Based Algorithms for High-Performance CRC Generation (2008).",
)
