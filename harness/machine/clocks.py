"""Clocks: functions that return seconds, of which only differences have a meaning; and how busy other processes are."""

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

from harness.errors import FairclockError, MachineError

Clock = Callable[[], float]
"""A function that returns the number of seconds since some fixed moment."""

wall: Clock = time.perf_counter
"""The wall clock. It also advances while other programs use the core."""

thread_cpu: Clock = time.thread_time
"""The CPU time that the calling thread has used."""

# The CPU clock that counts scheduled time (Linux, include/linux/posix-timers_types.h).
_CPUCLOCK_SCHED = 2


class ProcessGoneError(FairclockError):
    """A CPU clock cannot be read, because its process has ended."""


def process_cpu(pid: int) -> Clock:
    """Return a clock of the CPU time of a process: of all its threads, but not of its child processes.

    See `clock_getcpuclockid(3)`. The clock of an ended process can be read until its parent has called `wait`. Raise
    `MachineError` if the system has no such clock. Raise `ProcessGoneError` if the process has ended. So does the
    returned function.
    """
    if sys.platform != "linux":
        raise MachineError(
            "A process can read another process's CPU clock only on Linux; measure pairs on the wall clock instead."
        )
    if pid <= 0:
        raise ProcessGoneError(f"{pid} is not a process id; pass the id of a running process.")
    clock_id = (~pid << 3) | _CPUCLOCK_SCHED

    def read() -> float:
        try:
            return time.clock_gettime(clock_id)
        except OSError as error:
            raise ProcessGoneError(
                f"Process {pid} has ended, so its CPU clock cannot be read; start it and measure again."
            ) from error

    try:
        read()
    except ProcessGoneError as error:
        # Linux returns the same error for a missing process as gVisor for every process.
        if psutil.pid_exists(pid):
            why = getattr(error.__cause__, "strerror", error)
            raise MachineError(f"On this system, a process cannot read another process's CPU clock ({why}).") from error
        raise
    return read


class CoreWait:
    """A clock of the time for which one thread was ready to run, but waited for its core, in seconds.

    It is the first thread of the process `pid`, or the calling thread if `pid` is None. Linux counts this time (the
    kernel's documentation, scheduler/sched-stats). Elsewhere, the time is always 0. Call `close` at the end.
    """

    def __init__(self, pid: int | None = None) -> None:
        self._file: int | None = None
        with suppress(OSError):
            self._file = os.open(f"/proc/{'thread-self' if pid is None else pid}/schedstat", os.O_RDONLY)

    def __call__(self) -> float:
        """Return the time in seconds. Raise `ProcessGoneError` if the process has ended."""
        if self._file is None:
            return 0.0
        try:
            return int(os.pread(self._file, 64, 0).split()[1]) / 1e9
        except ProcessLookupError as error:
            raise ProcessGoneError("The process has ended, so the time that it waited cannot be read.") from error

    def undisturbed(self) -> Clock | None:
        """Return a clock of the wall time without this time, or None on a system that does not count it."""

        def now() -> float:
            try:
                return wall() - self()
            except ProcessGoneError:
                return wall()

        return None if self._file is None else now

    def close(self) -> None:
        """Release the file. The time is 0 from now on."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


@dataclass(slots=True)
class FakeClock:
    """A clock for tests. Its time changes only by `advance`, and by `tick_s` after each call."""

    now_s: float = 0.0
    tick_s: float = 0.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        reading_s = self.now_s
        self.now_s += self.tick_s
        return reading_s

    def advance(self, seconds: float) -> None:
        """Advance the clock by `seconds`."""
        self.now_s += seconds


HIGH_LOAD: Final = 0.3
"""The number of cores used by other processes at which a measurement on all cores becomes unreliable."""


@dataclass(slots=True)
class BackgroundLoad:
    """The average number of cores that other processes used during a `with` block. NaN until the block ends."""

    cores: float = math.nan

    @property
    def is_high(self) -> bool:
        """Whether a measurement on all cores is unreliable, because other processes used too much CPU time."""
        return self.cores >= HIGH_LOAD


@contextmanager
def watch_background_load() -> Iterator[BackgroundLoad]:
    """Measure the background load during a `with` block: all CPU time that is neither idle nor used by this process.

    The child processes of this process count as background load. The block should take 0.1 s or more, because the
    system counts idle time in steps of 0.01 s.
    """
    found = BackgroundLoad()
    idle_s, own_s, wall_s = psutil.cpu_times().idle, time.process_time(), time.perf_counter()
    yield found
    wall_s = time.perf_counter() - wall_s
    own_s = time.process_time() - own_s
    idle_s = psutil.cpu_times().idle - idle_s
    found.cores = max(0.0, (os.cpu_count() or 1) - (idle_s + own_s) / wall_s)
