"""Resident memory: the pages of this process that lie in the machine's memory now, or lay there at most during a call.

Linux keeps a mark of the most that was ever resident, and lets a process lower it to what is resident now (writing 5 to
`/proc/self/clear_refs`; Documentation/filesystems/proc.rst). Nothing that comes and goes in between is missed.
Elsewhere a thread looks a thousand times a second, and may miss a short peak.
"""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own

LOOKS_S: Final = 1e-3
"""How long the looking thread waits between two looks, where there is no mark."""

_CLEAR: Final = Path("/proc/self/clear_refs")
_STATUS: Final = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Held:
    """Resident bytes before a call, at most during it, and after it. `exact` where the kernel has kept the mark."""

    before_bytes: int
    peak_bytes: int
    after_bytes: int
    exact: bool

    @property
    def added_bytes(self) -> int:
        """What the call had at its peak, beyond what there was before."""
        return self.peak_bytes - self.before_bytes

    @property
    def kept_bytes(self) -> int:
        """What is still there when it has returned, its result included if somebody holds that."""
        return self.after_bytes - self.before_bytes


def resident_bytes() -> int:
    """Return the bytes of this process that are resident now."""
    bytes_: int = psutil.Process().memory_info().rss
    return bytes_


def peak_of(call: Callable[[], object]) -> Held:
    """Call once, and return what was resident before, at most, and after. The result is held until after that.

    Other threads of this process count as well. Raises what the call raises.
    """
    return _marked(call) if _lowers_its_mark() else _looked_at(call)


def looks_during(call: Callable[[], object], interval_s: float) -> list[int]:
    """Call once, and return the resident bytes before it, every `interval_s` during it, and after it.

    A thread of this process looks. `memory_usage((call,))` of memory_profiler starts a process to look: Python before
    3.14 forks it, which beside the threads of torch may end in a deadlock, and Python 3.14 has it import the caller's
    program again, which takes seconds. Raises what the call raises.
    """
    with _looking(interval_s) as seen:
        call()
    return [*seen, resident_bytes()]


def page_faults() -> int | None:
    """Return how many pages the system has had to find for this process so far; None where it does not tell."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def _lowers_its_mark() -> bool:
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return True


def _marked(call: Callable[[], object]) -> Held:
    before_bytes = resident_bytes()
    result = call()
    after_bytes = resident_bytes()
    del result
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
    peak_bytes = int(line.split()[1]) << 10
    return Held(before_bytes, max(peak_bytes, before_bytes, after_bytes), after_bytes, exact=True)


def _looked_at(call: Callable[[], object]) -> Held:
    with _looking(LOOKS_S) as seen:
        result = call()
    after_bytes = resident_bytes()
    del result
    return Held(seen[0], max(*seen, after_bytes), after_bytes, exact=False)


@contextlib.contextmanager
def _looking(interval_s: float) -> Iterator[list[int]]:
    """Give a list of the resident bytes now, to which a thread adds a look every `interval_s` until the block ends."""
    seen, done = [resident_bytes()], threading.Event()

    def look() -> None:
        while not done.wait(interval_s):
            seen.append(resident_bytes())

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()
