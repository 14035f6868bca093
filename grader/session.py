"""The secret seed, the processes and the reserved CPU cores that all gradings of one run share."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from grader.isolation.pool import TreeSource
from harness.errors import MachineError
from harness.machine.lanes import Lane, lane, physical_cores

LaneFactory = Callable[[int], AbstractContextManager[Lane | None]]
"""A function that reserves one free CPU core per thread, or returns None on systems where cores cannot be reserved."""


def timing_lane(threads: int) -> AbstractContextManager[Lane | None]:
    """Reserve `threads` CPU cores that no other measurement on this machine uses at the same time (a lane).

    On Windows nothing is reserved. Raise `MachineError` if several threads would occupy all cores, because other
    programs would then slow the threads down.
    """
    if sys.platform == "win32":
        return nullcontext()
    if threads > 1 and threads >= physical_cores():
        raise MachineError(
            f"This task is timed on {threads} threads, and this machine has only {physical_cores()} cores. Grade on a "
            "machine with more cores than threads."
        )
    return lane(width=threads)


@dataclass(slots=True)
class Session:
    """The secret seed, the processes and the reserved CPU cores for all gradings of one run."""

    seed: str
    pool: TreeSource
    lane: LaneFactory = timing_lane
