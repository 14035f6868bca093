"""How much of this machine's cores others use while something is measured.

A control in paired rounds cannot tell: what disturbs both of a pair alike leaves their ratio alone. But who wants to
show what a second core gains has to know that it was free.
"""

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own

CROWD: Final = 0.3
"""From so many cores used by others on, nothing can be said of what this machine's last core would have given."""


@dataclass(slots=True)
class Others:
    """The cores that others used on average while a block ran; NaN before its end."""

    cores: float = math.nan

    @property
    def crowd(self) -> bool:
        """Whether they used enough of a core to be in the way of whoever needs all of them."""
        return self.cores >= CROWD


@contextmanager
def others_watched() -> Iterator[Others]:
    """Find out what others used of all cores while the block ran: neither idle, nor this process's own CPU time.

    Processes that this one has started are others. The system counts idle time in hundredths of a second: watch a
    tenth or more.
    """
    found = Others()
    idle_s, own_s, wall_s = psutil.cpu_times().idle, time.process_time(), time.perf_counter()
    yield found
    wall_s = time.perf_counter() - wall_s
    own_s = time.process_time() - own_s
    found.cores = used_by_others(os.cpu_count() or 1, wall_s, psutil.cpu_times().idle - idle_s, own_s)


def used_by_others(cores: int, wall_s: float, idle_s: float, own_s: float) -> float:
    """Return the cores that neither were idle nor worked for us, on average, never less than none. Pure."""
    return max(0.0, cores - (idle_s + own_s) / wall_s)


def busy_cores(for_s: float = 1.0) -> float:
    """Watch for `for_s` seconds, doing nothing, and return how many cores other processes used on average."""
    with others_watched() as found:
        time.sleep(for_s)
    return found.cores
