"""Memory the supervisor makes and lends to a worker: tensors go in and come out here, as raw bytes.

Its size is sealed, so that a worker cannot pull it from under the supervisor.
"""

import fcntl
import mmap
import os
import tempfile
from typing import Final

import numpy as np
from numpy.typing import NDArray

POISON: Final = 0xAB
"""Output memory is filled with this byte before each call, so that an answer left from before is no answer."""


class SharedMemory:
    """An anonymous file, mapped here and inherited by one worker."""

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
        """A private copy of the first `count` bytes."""
        return self.bytes[:count].tobytes()

    def poison(self, count: int) -> None:
        """Overwrite the first `count` bytes with a pattern that is no answer."""
        self.bytes[:count] = POISON

    def close(self) -> None:
        """Give the memory back; a worker that still runs keeps its own view."""
        del self.bytes
        self._map.close()
        os.close(self.descriptor)
