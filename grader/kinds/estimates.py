"""Estimate the cost of a function in this process, without a sandbox.

CPU time is the smallest of a few calls. Peak memory is measured only on Linux; on other systems the function earns no
points for memory.
"""

import math
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

CALLS: Final = 3
"""The number of timed calls of each function. The shortest time is used."""


def least_s(solver: Callable[[Any], Any], calls: Sequence[Any]) -> float:
    """Return the CPU seconds of the fastest of `CALLS` runs of these calls, after one untimed run."""
    found = []
    for _ in range(1 + CALLS):
        began_s = time.thread_time()
        for each in calls:
            solver(each)
        found.append(time.thread_time() - began_s)
    return max(min(found[1:]), 1e-9)


def peak_bytes(solver: Callable[[Any], Any], calls: Sequence[Any]) -> float:
    """Return the bytes by which calls raise this process's peak memory, at least 1 MiB, or NaN if unknown.

    One call is made before, because the first call may load a library, such as torch.
    """
    solver(calls[0])
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # sets the peak to the present memory use
    except OSError:
        return math.nan
    before = _resident_kib("VmRSS")
    for each in calls:
        solver(each)
    return max(_resident_kib("VmHWM") - before, 1024) * 1024.0


def _resident_kib(name: str) -> int:
    found = re.search(rf"^{name}:\s*(\d+)", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    return int(found[1]) if found else 0
