"""The end of what a worker's process tree prints, however much that is: endless printing fills nothing up."""

import contextlib
import fcntl
import os
import select
import struct
import termios
import threading
import time
from typing import Final

TAIL_BYTES: Final = 4096
"""How much is kept: the last lines say why a program ended."""

SETTLE_S: Final = 0.5
"""How long to wait for what was printed and not yet read; who prints without end is not waited for longer."""


class Tail:
    """Reads a pipe to its end, in a thread of its own, and keeps the last of it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._kept = bytearray()
        self._moving = threading.Lock()  # held while bytes are neither in the pipe nor kept
        self._thread = threading.Thread(target=self._drain, args=(descriptor,), daemon=True)
        self._thread.start()

    def text(self) -> str:
        """What is kept, as text, once the pipe is empty."""
        deadline_s = time.monotonic() + SETTLE_S
        while True:
            with self._moving:
                if not self._thread.is_alive() or not self._unread() or time.monotonic() >= deadline_s:
                    return self._kept.decode(errors="replace")
            time.sleep(0.001)

    def forget(self) -> None:
        """Keep nothing of what was printed so far."""
        self.text()
        with self._moving:
            self._kept.clear()

    def close(self) -> None:
        """Wait a moment for the pipe to end."""
        self._thread.join(timeout=5)

    def _unread(self) -> int:
        """Bytes in the pipe (ioctl_pipe(2): FIONREAD)."""
        try:
            count: int = struct.unpack("i", fcntl.ioctl(self._descriptor, termios.FIONREAD, bytes(4)))[0]
        except OSError:  # it was closed
            return 0
        return count

    def _drain(self, descriptor: int) -> None:
        ready = select.poll()
        ready.register(descriptor, select.POLLIN)
        with contextlib.suppress(OSError):
            while ready.poll() and self._keep(descriptor):
                pass

    def _keep(self, descriptor: int) -> bool:
        """Move what is in the pipe; whether there can be more."""
        with self._moving:
            part = os.read(descriptor, 1 << 16)
            self._kept += part
            del self._kept[:-TAIL_BYTES]
            return bool(part)
