"""The limits of a process that runs a submission: CPU time, wall time, memory, threads and storage."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from grader.errors import NoisyMachineError, WorkerFault
from grader.records import Status
from harness.machine.clocks import wall

T = TypeVar("T")

HAND_IN_S: Final = 900.0
"""The most wall seconds for one hand-in: for all of its tasks, repeats and restarts, and the grader's own work."""


class HandInTime:
    """The wall time for one hand-in, which begins when this object is created. The default limit is `HAND_IN_S`.

    So a submission cannot hold a core for hours by steps that each keep their own limit.

    `own_s` are the seconds in which the grader waited for the submission's code, and answered its calls. The rest is
    the time of the baseline, of the grader, and of waiting for a core. The baseline and the grader do a limited amount
    of work, so this rest is most of the time only on a slow or busy machine.
    """

    def __init__(self, limit_s: float | None = None) -> None:
        self._limit_s = HAND_IN_S if limit_s is None else limit_s
        self._ends_s = wall() + self._limit_s
        self.own_s = 0.0

    @property
    def left_s(self) -> float:
        """The wall seconds that are left, or 0 if none are left."""
        return max(0.0, self._ends_s - wall())

    @property
    def used_up(self) -> WorkerFault | NoisyMachineError:
        """The error of a hand-in that has no time left: a fault of the submission, unless `own_s` is less than half."""
        said = f"Grading this file took longer than {self._limit_s / 60:.3g} minutes, the limit for all of its tasks."
        if self.own_s < self._limit_s / 2:
            busy = "For more than half of this time, the submission's code did not run. Grade again on a faster machine"
            return NoisyMachineError(f"{said} {busy}, or when fewer other programs run.")
        help_text = "Look for code that waits or sleeps, and for work that each call repeats."
        return WorkerFault(Status.TIMED_OUT, f"{said} Tasks that were graded before keep their points.", help_text)

    def pause(self, pause_s: float) -> None:
        """Sleep for this number of seconds, and do not count them."""
        time.sleep(pause_s)
        self._ends_s += pause_s

    @contextmanager
    def entered(self, waiting: AbstractContextManager[T]) -> Iterator[T]:
        """Enter `waiting`, the wait for a core or for a new process tree, and do not count the time of this wait."""
        began_s = wall()
        with waiting as found:
            self._ends_s += wall() - began_s
            yield found


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one worker (a process that runs a submission). `load_s` and `call_s` limit the CPU time.

    A request, such as one call, may take `wall_factor` times its CPU time limit on the wall clock. So load of other
    programs does not end honest work, but a process that hangs without computing is ended. If the system
    counts the time that a process waits for a core, a file must load in `load_s` without this time.

    `threads` is the number of threads for torch and other libraries. A task with more than one thread must have the
    cost `WALL_TIME`.

    A worker usually keeps memory that it has freed, so that timing does not depend on earlier calls. If
    `returns_memory`, it returns each freed block of 128 KiB or more to the operating system at once. If
    `stores_outside`, it may store data outside of process memory: in files, pipes, sockets and shared memory.
    """

    load_s: float = 30.0
    call_s: float = 10.0
    wall_factor: float = 4.0
    memory_bytes: int = 2 << 30
    threads: int = 1
    returns_memory: bool = False
    stores_outside: bool = True
