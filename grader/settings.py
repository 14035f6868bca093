"""How grading is done here: with which secret, in which process trees, on which cores."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from grader.isolation.pool import Trees
from harness.errors import MachineError
from harness.lanes import Lane, lane, physical_cores

LaneFactory = Callable[[int], AbstractContextManager[Lane | None]]
"""Waits for cores to time on, one a thread, and holds them; None where cores cannot be chosen."""


def timing_lane(threads: int) -> AbstractContextManager[Lane | None]:
    """A lane that excludes every other measurement on this machine from its cores, where there are lanes.

    Raises `MachineError` for work on as many threads as the machine has cores: it would be timed on whatever is left
    of them by everything else that runs.
    """
    if sys.platform == "win32":
        return nullcontext()
    if threads > 1 and threads >= physical_cores():
        raise MachineError(
            f"This is timed on {threads} threads, and this machine has {physical_cores()} cores; grade it on one with "
            "more cores than threads."
        )
    return lane(width=threads)


@dataclass(frozen=True, slots=True)
class Settings:
    """What every grading of a run has in common. `seed` is secret: inputs are drawn from it.

    `counted` keeps what baselines took beyond an empty process, by the seed of what they were given: what is graded on
    the very same inputs needs no other count.
    """

    seed: str
    pool: Trees
    lane: LaneFactory = timing_lane
    counted: dict[tuple[str, ...], int] = field(default_factory=dict)
