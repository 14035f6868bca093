"""Memory that the supervisor shares with a worker, to exchange tensors as raw bytes.

On Linux the size of the memory is fixed, so that a worker cannot shrink it while the supervisor reads it.
"""

import fcntl
import mmap
import os
import tempfile
from typing import Final

import numpy as np
from numpy.typing import NDArray

POISON: Final = 0xAB
"""The byte that overwrites output memory before each call, so that an old answer cannot count as a new answer."""


class SharedMemory:
    """An anonymous file that the supervisor and one worker map into their memory."""

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
        """Return a copy of the first `count` bytes, which the worker cannot change."""
        return self.bytes[:count].tobytes()

    def poison(self, count: int) -> None:
        """Overwrite the first `count` bytes with the byte `POISON`."""
        self.bytes[:count] = POISON

    def close(self) -> None:
        """Release the supervisor's mapping. A worker that still runs keeps its own mapping."""
        del self.bytes
        self._map.close()
        os.close(self.descriptor)
