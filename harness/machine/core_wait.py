"""Measure how long a thread was ready to run, but waited for its core, because other threads used this core.

Linux counts this time for each thread (the kernel's documentation, scheduler/sched-stats). A wall time minus this time
hardly depends on other programs. On other systems, and on a Linux without this count, the time is always 0.
"""

import os

from harness.machine.clocks import ProcessGoneError


class CoreWait:
    """A clock of the time for which one thread has waited for its core, in seconds.

    It is the first thread of the process `pid`, or the calling thread if `pid` is None. Call `close` at the end.
    """

    def __init__(self, pid: int | None = None) -> None:
        place = "thread-self" if pid is None else str(pid)
        self._file: int | None
        try:
            self._file = os.open(f"/proc/{place}/schedstat", os.O_RDONLY)
        except OSError:
            self._file = None

    def __call__(self) -> float:
        """Return the time in seconds. Raise `ProcessGoneError` if the process has ended."""
        if self._file is None:
            return 0.0
        try:
            return int(os.pread(self._file, 64, 0).split()[1]) / 1e9
        except ProcessLookupError as error:
            raise ProcessGoneError("The process has ended, so the time that it waited cannot be read.") from error

    def close(self) -> None:
        """Release the file. The time is 0 from now on."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
