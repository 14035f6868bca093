"""The end of what a worker's process tree prints, however much that is: endless printing fills nothing up."""

import contextlib
import os
import threading
from typing import Final

TAIL_BYTES: Final = 4096
"""How much is kept: the last lines say why a program ended."""


class Tail:
    """Reads a pipe to its end, in a thread of its own, and keeps the last of it."""

    def __init__(self, descriptor: int) -> None:
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._drain, args=(descriptor,), daemon=True)
        self._thread.start()

    def text(self) -> str:
        """What is kept, as text."""
        return bytes(self._kept[-TAIL_BYTES:]).decode(errors="replace")

    def close(self) -> None:
        """Wait a moment for the pipe to end."""
        self._thread.join(timeout=5)

    def _drain(self, descriptor: int) -> None:
        with contextlib.suppress(OSError):
            while part := os.read(descriptor, 1 << 16):
                self._kept += part
                del self._kept[:-TAIL_BYTES]
