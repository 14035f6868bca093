"""Keep the end of the output of running processes. Endless output neither blocks them nor fills the memory."""

import contextlib
import fcntl
import os
import select
import struct
import termios
import threading
import time
from typing import IO, Final

TAIL_BYTES: Final = 4096
"""The number of bytes that are usually kept. The last lines usually show why a program ended."""

SETTLE_S: Final = 0.5
"""The most seconds to wait until all output is read. A program may print without end."""


class OutputTail:
    """A thread that reads a pipe until it is closed, and keeps the last bytes."""

    def __init__(self, pipe: IO[bytes], most_bytes: int = TAIL_BYTES) -> None:
        self.kept = bytearray()
        self._pipe, self._most_bytes = pipe, most_bytes
        self._moving = threading.Lock()  # held while bytes are neither in the pipe nor kept
        self._thread = threading.Thread(target=self._drain, args=(pipe.fileno(),), daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Wait until the pipe is empty, for at most `SETTLE_S` seconds, and return the kept bytes as text."""
        deadline_s = time.monotonic() + SETTLE_S
        while True:
            with self._moving:
                if not self._thread.is_alive() or not self._unread() or time.monotonic() >= deadline_s:
                    return self.kept.decode(errors="replace")
            time.sleep(0.001)

    def forget(self) -> None:
        """Discard all output that was read so far."""
        self.text()
        with self._moving:
            self.kept.clear()

    def close(self) -> None:
        """Wait for at most 5 seconds until all writers have closed the pipe, and close it here."""
        self._thread.join(timeout=5)
        self._pipe.close()

    def _unread(self) -> int:
        if self._pipe.closed:
            return 0
        count: int = struct.unpack("i", fcntl.ioctl(self._pipe.fileno(), termios.FIONREAD, bytes(4)))[0]
        return count

    def _drain(self, descriptor: int) -> None:
        ready = select.poll()
        ready.register(descriptor, select.POLLIN)
        part = None
        with contextlib.suppress(OSError):
            while part != b"":
                ready.poll()
                with self._moving:
                    part = os.read(descriptor, 1 << 16)
                    self.kept += part
                    del self.kept[: -self._most_bytes]
