"""The limits of a process that runs a submission: CPU time, wall time, memory, threads and storage."""

from dataclasses import dataclass
from typing import Final

CALLS_TOGETHER: Final = 20
"""The time limit for all calls of a task together, as a multiple of the time limit for one call."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one worker (a process that runs a submission). `load_s` and `call_s` limit the CPU time.

    A request, such as one call, may take `wall_factor` times its CPU time limit on the wall clock. So load of other
    programs does not end honest work, but a process that hangs without computing is ended. If the system
    counts the time that a process waits for a core, a file must load in `load_s` without this time.

    `together_s` limits the time of all requests of a task, so that many short requests cannot hold a core for hours.
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

    @property
    def together_s(self) -> float:
        """The maximum wall time in seconds of all calls of one task together."""
        return self.wall_factor * (self.load_s + CALLS_TOGETHER * self.call_s)
