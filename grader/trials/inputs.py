"""Inputs on their way to a worker: NumPy arrays to bytes and back to the very same strides.

An array is sent as the bytes of the array it is a view of, plus where and how to look: two parameters that share memory
here share memory there.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from grader.task import Array, Inputs
from grader.text import storable
from grader.trials.memory import SharedMemory

ALIGNMENT: Final = 64
"""Bytes: torch and NumPy allocate on this boundary, and vector code runs slower off it."""


def generator(*parts: str) -> np.random.Generator:
    """A generator seeded by the parts: the same secret and the same submission meet the same cases again."""
    digest = hashlib.sha256(storable("\0".join(parts)).encode()).digest()
    return np.random.Generator(np.random.SFC64(int.from_bytes(digest, "little")))


@dataclass(frozen=True)
class Packed:
    """Inputs laid out in a worker's memory: where each array lies, and the bytes that must be there afterwards."""

    layouts: tuple[dict[str, Any], ...]
    bases: tuple[tuple[int, Array], ...]

    def write(self, memory: SharedMemory) -> None:
        """Put the contents in place."""
        for at, base in self.bases:
            memory.bytes[at : at + base.nbytes] = base.reshape(-1).view(np.uint8)

    def unchanged(self, memory: SharedMemory) -> bool:
        """Whether the worker left its inputs as they were."""
        return all(
            np.array_equal(memory.bytes[at : at + base.nbytes], base.reshape(-1).view(np.uint8))
            for at, base in self.bases
        )


def pack(inputs: Inputs) -> Packed:
    """Lay out arrays one behind the other; views of one array share its place."""
    bases: dict[int, tuple[int, Array]] = {}
    layouts = []
    end = 0
    for array in inputs:
        base = root(array)
        if id(base) not in bases:
            bases[id(base)] = (end, base)
            end += -(-base.nbytes // ALIGNMENT) * ALIGNMENT
        at, _ = bases[id(base)]
        layouts.append(_layout(array, base, at))
    return Packed(tuple(layouts), tuple(bases.values()))


def root(array: Array) -> Array:
    """The array whose memory this one looks into."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    assert base.flags.c_contiguous, "cases are views of contiguous arrays"
    return base


def describe(names: Sequence[str], inputs: Inputs) -> str:
    """Inputs in a few words: `a, b of shape (1, 3), float32, b strided`."""
    groups: dict[str, list[str]] = {}
    for name, array in zip(names, inputs, strict=True):
        groups.setdefault(f"of shape {array.shape}, {array.dtype}", []).append(name)
    words = [f"{', '.join(group)} {what}" for what, group in groups.items()]
    pairs = list(zip(names, inputs, strict=True))
    words += [f"{name} strided" for name, array in pairs if array.size and not array.flags.c_contiguous]
    for i, (name, array) in enumerate(pairs):
        words += [f"{name} and {other} share memory" for other, b in pairs[i + 1 :] if root(array) is root(b)]
    words += [f"{name} has a NaN" for name, array in pairs if array.dtype.kind == "f" and np.isnan(array).any()]
    return ", ".join(words)


def _layout(array: Array, base: Array, at: int) -> dict[str, Any]:
    size = array.itemsize
    assert array.dtype == base.dtype, "a case does not reinterpret its memory"
    return {
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "strides": [stride // size for stride in array.strides],
        "offset": (array.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // size,
        "at": at,
        "count": base.size,
    }
