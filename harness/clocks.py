"""Clocks: a clock is a function that returns seconds, and only differences of its readings mean anything.

Code that needs the time takes a `Clock` as an argument. Handing it a `FakeClock` turns a timing rule into an
exact test; handing it `process_cpu(pid)` measures another process from outside, where it cannot reach.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from harness.errors import FairclockError, MachineError

Clock = Callable[[], float]
"""Returns seconds since some fixed moment."""

_CPUCLOCK_SCHED = 2
"""The kind of CPU clock that counts scheduled time (Linux, include/linux/posix-timers_types.h)."""


class ProcessGoneError(FairclockError):
    """The process whose CPU clock was read has ended and was reaped."""


def wall() -> float:
    """Seconds on the machine's steadiest clock. It also runs while others have the core."""
    return time.perf_counter()


def thread_cpu() -> float:
    """Seconds of CPU time that the calling thread has used."""
    return time.thread_time()


def process_cpu(pid: int) -> Clock:
    """Return the CPU clock of a whole process: all its threads, but not its child processes.

    Linux gives every process a CPU clock that others may read; `clock_getcpuclockid(3)` names it by the
    complement of the process id, shifted over three bits that say which kind of clock (the kernel's
    `MAKE_PROCESS_CPUCLOCK`). An ended process keeps its last reading until its parent reaps it; after that
    the number `pid` may be given to another process, so read the clock while you hold the process unreaped.

    Raises `MachineError` where there is no such clock, and `ProcessGoneError`, here or at a later reading,
    when the process is gone.
    """
    if sys.platform != "linux":
        raise MachineError(
            "Only Linux lets one process read another's CPU clock; measure pairs on the wall clock instead."
        )
    if pid <= 0:
        raise ProcessGoneError(f"{pid} is not the id of a process; give one that is running.")
    clock_id = (~pid << 3) | _CPUCLOCK_SCHED

    def read() -> float:
        try:
            return time.clock_gettime(clock_id)
        except OSError as error:
            raise ProcessGoneError(
                f"Process {pid} has ended, so its CPU clock cannot be read; start it again and measure anew."
            ) from error

    try:
        read()
    except ProcessGoneError as error:
        if _runs(pid):
            raise MachineError(
                f"This system does not let one process read another's CPU clock ({_why(error)})."
            ) from error
        raise
    return read


def _runs(pid: int) -> bool:
    """Whether there is such a process: Linux ends the reading of a missing one with EINVAL, as gVisor does any."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _why(error: BaseException) -> str:
    cause = error.__cause__
    return (cause.strerror or str(cause)) if isinstance(cause, OSError) else str(error)


@dataclass(slots=True)
class FakeClock:
    """A clock that moves only when told, for exact tests of timing rules.

    `now_s` is what the next reading returns. `tick_s` is what a reading itself costs; it passes after each.
    """

    now_s: float = 0.0
    tick_s: float = 0.0

    def __call__(self) -> float:
        """Return the time in seconds, then let the cost of reading pass."""
        reading_s = self.now_s
        self.now_s += self.tick_s
        return reading_s

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass. Time does not run backwards: a negative step is a `ValueError`."""
        if seconds < 0:
            raise ValueError(f"A clock cannot go back by {-seconds} s.")
        self.now_s += seconds
