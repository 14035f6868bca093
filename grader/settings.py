"""How grading is done here: with which secret, in which process trees, on which cores."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from grader.pool import Pool
from harness.lanes import Lane, lane

LaneFactory = Callable[[], AbstractContextManager[Lane | None]]
"""Waits for a core to time on and holds it; None where cores cannot be chosen."""


def timing_lane() -> AbstractContextManager[Lane | None]:
    """A lane that excludes every other measurement on this machine from its core, where there are lanes."""
    return lane() if sys.platform != "win32" else nullcontext()


@dataclass(frozen=True, slots=True)
class Settings:
    """What every grading of a run has in common. `seed` is secret: inputs are drawn from it."""

    seed: str
    pool: Pool
    lane: LaneFactory = timing_lane
