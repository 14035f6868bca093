"""Memory that the grader shares with the process of a submission, to exchange tensors and plain values as raw bytes.

On Linux the size of the memory is fixed, so that the process cannot shrink it while the grader reads it.
"""

import fcntl
import mmap
import os
import tempfile
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
