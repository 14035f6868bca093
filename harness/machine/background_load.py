"""Measure how many CPU cores other processes use while a `with` block runs: the background load."""

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

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
