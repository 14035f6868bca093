"""The task: `checksum`, the CRC-32 of some bytes, in C.

Each step needs the one before, so torch has no operation for it. The baseline is C that takes one bit at a time, 9 ns a
byte. A table, one look-up a byte, is 4 times as fast; there the processor waits for each look-up before it can begin
the next. Tables for several bytes make look-ups that do not wait for each other: 13 times with four tables, 30 times
with sixteen. clang makes a faster baseline (6 ns a byte), so there the three gain 2.8, 8.4 and 16 times. The tiers, 2
and 6, lie between with both compilers. A Python loop takes 90 to 130 ns a byte, depending on its version, so it is not
the baseline: a tier in the middle moved by half from Python 3.13 to 3.14.
(Measured on a 2-core VM, gcc 12, 14 and 16, clang 14.)
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.records import Cost
from grader.task import Array, Inputs, Task, TensorExam, Tier

BYTES: Final = 1 << 17
SIZES: Final = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 64, 100, 1000)


def cases(rng: np.random.Generator) -> list[Inputs]:
    """Draw every small size at each of eight addresses, between bytes that do not belong to it; nothing; all alike."""
    drawn: list[Inputs] = [(np.empty(0, np.uint8),), (_bytes(rng, 9)[4:4],)]
    for at, size in enumerate(SIZES):
        drawn += [(_bytes(rng, size + 16)[start : start + size],) for start in (at % 8, (at + 3) % 8)]
    drawn += [(_bytes(rng, 64)[start : start + 40],) for start in range(8)]
    drawn += [(np.full(size, value, np.uint8),) for size in (1, 8, 21) for value in (0, 127, 128, 255)]
    return drawn


def timed(rng: np.random.Generator) -> Iterator[Inputs]:
    """Draw new bytes for each call."""
    while True:
        yield (_bytes(rng, BYTES),)


def oracle(data: Array) -> NDArray[np.float64]:
    """The four bytes of zlib's answer, little-endian."""
    return np.array([*zlib.crc32(data.tobytes()).to_bytes(4, "little")], dtype=np.float64)


def allowed(_: Array) -> NDArray[np.float64]:
    """A checksum is right or wrong."""
    return np.zeros(4)


def _bytes(rng: np.random.Generator, size: int) -> Array:
    return rng.integers(0, 256, size, dtype=np.uint8)


CHECKSUM = Task(
    lesson="14_extensions",
    name="checksum",
    summary="the CRC-32 of some bytes, in C",
    points=10.0,
    cost=Cost.TIME,
    tiers=(Tier(2.0, 0.7), Tier(6.0, 1.0)),
    hints=(
        "Begin with the eight steps a byte, as they stand in the exercise, in C. Who takes the most time after that?",
        (
            "What eight steps make of the lowest byte depends on that byte alone. Work it out for all 256 of them, "
            "once, and keep it in a table: then a byte is one look-up, crc = table[(crc ^ byte) & 255] ^ (crc >> 8)."
        ),
        (
            "Each of these look-ups waits for the one before. Make seven more tables, the n-th for a byte that n zero "
            "bytes follow: table[n][i] = (table[n - 1][i] >> 8) ^ table[0][table[n - 1][i] & 255]. Then read eight "
            "bytes with memcpy, which may lie anywhere, xor crc into the first four, and xor the eight look-ups, the "
            "first byte's from table[7]. What is left over goes byte by byte. (Sixteen work the same way.)"
        ),
    ),
    exam=TensorExam(("data",), cases, timed, oracle, allowed, in_c=True),
    folder=Path(__file__).parent,
    read="lesson 14, step 1",
    idea=(
        "sixteen bytes at a time: a checksum is linear, so the part of each byte can be looked up by itself, in the "
        "table for as many zero bytes as follow it, and these look-ups do not wait for each other. memcpy reads "
        "bytes from any address, and the compiler makes one instruction of it; a pointer to uint32_t would "
        "promise an address that the bytes need not have."
    ),
    read_on="Kounavis and Berry, Novel Table Lookup-Based Algorithms for High-Performance CRC Generation (2008).",
)
