"""Send NumPy arrays to another process as bytes, from which it makes tensors with equal shapes and strides.

Two arrays that share memory become two tensors that share memory.
"""

import fcntl
import mmap
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from grader.task import Array, Inputs

ALIGNMENT: Final = 64
"""Arrays have addresses that are multiples of this number of bytes, because vector instructions are then faster."""

POISON: Final = 0xAB
"""The byte that overwrites the memory for answers before each call, so that an old answer cannot count as new."""


class SharedMemory:
    """An anonymous file that the grader and the process of a submission map into their memory."""

    def __init__(self, size_bytes: int) -> None:
        if hasattr(os, "memfd_create"):
            self.descriptor = os.memfd_create("fairclock", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(self.descriptor, size_bytes)
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
        else:
            with tempfile.TemporaryFile() as file:
                file.truncate(size_bytes)
                self.descriptor = os.dup(file.fileno())
        self._map = mmap.mmap(self.descriptor, size_bytes)
        self.bytes: NDArray[np.uint8] = np.frombuffer(self._map, dtype=np.uint8)

    def read(self, count: int) -> bytes:
        """Return a copy of the first `count` bytes, which the other process cannot change."""
        return self.bytes[:count].tobytes()

    def poison(self, count: int) -> None:
        """Overwrite the first `count` bytes with the byte `POISON`."""
        self.bytes[:count] = POISON

    def close(self) -> None:
        """Release the memory in this process. The other process keeps it."""
        del self.bytes
        self._map.close()
        os.close(self.descriptor)


@dataclass(frozen=True)
class Packed:
    """The layout of arrays in shared memory, and their bytes, which the called function must not change."""

    layouts: tuple[dict[str, Any], ...]
    bases: tuple[tuple[int, Array], ...]

    def write(self, memory: SharedMemory) -> None:
        """Copy the arrays into shared memory."""
        for at, base in self.bases:
            memory.bytes[at : at + base.nbytes] = base.reshape(-1).view(np.uint8)

    def unchanged(self, memory: SharedMemory) -> bool:
        """Return whether the shared memory still holds the bytes that `write` copied."""
        return all(
            np.array_equal(memory.bytes[at : at + base.nbytes], base.reshape(-1).view(np.uint8))
            for at, base in self.bases
        )


def pack(inputs: Inputs) -> Packed:
    """Return the layout of these arrays in shared memory, one after another. Views share the memory of their array."""
    bases: dict[int, tuple[int, Array]] = {}
    layouts, end = [], 0
    for array in inputs:
        base = root(array)
        if id(base) not in bases:
            bases[id(base)] = (end, base)
            end += -(-base.nbytes // ALIGNMENT) * ALIGNMENT
        at, _ = bases[id(base)]
        layouts.append(_layout(array, base, at))
    return Packed(tuple(layouts), tuple(bases.values()))


def root(array: Array) -> Array:
    """Return the array that owns the memory of this array, which may be a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    assert array.flags.c_contiguous, "cases are views of contiguous arrays"
    return array


def describe(names: Sequence[str], inputs: Inputs) -> str:
    """Return a short description of the inputs, such as `a, b of shape (1, 3), float32, b strided`."""
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
