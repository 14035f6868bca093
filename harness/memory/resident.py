"""Measure resident memory, the memory of this process that is in RAM: its value now, or its peak during a call."""

import gc
import sys
import threading
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

_CLEAR: Final = Path("/proc/self/clear_refs")


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """The resident memory before a call, at its peak, and after it, in bytes. `exact`: the kernel stored the peak."""

    before_bytes: int
    peak_bytes: int
    after_bytes: int
    exact: bool

    @property
    def added_bytes(self) -> int:
        """The peak during the call minus the memory before the call, in bytes."""
        return self.peak_bytes - self.before_bytes

    @property
    def kept_bytes(self) -> int:
        """The memory after the call minus the memory before the call, in bytes. The result of the call still exists."""
        return self.after_bytes - self.before_bytes


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes."""
    bytes_: int = psutil.Process().memory_info().rss
    return bytes_


def peak_of(call: Callable[[], object]) -> MemoryUse:
    """Call a function once, and return the resident memory before the call, at its peak, and after it.

    The result of the call exists until the last measurement. The memory of other threads of this process counts too.
    Garbage is collected before the call. Exceptions of the call are not caught.
    """
    gc.collect()
    if not _resets_peak():
        seen = memory_samples(call, interval_s=1e-3)
        return MemoryUse(seen[0], max(seen), seen[-1], exact=False)
    before_bytes = resident_bytes()
    result = call()
    after_bytes = resident_bytes()
    del result
    peak_bytes = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) << 10
    return MemoryUse(before_bytes, max(peak_bytes, before_bytes, after_bytes), after_bytes, exact=True)


def memory_samples(call: Callable[[], object], interval_s: float) -> list[int]:
    """Call a function once, and return samples of the resident memory in bytes.

    There is a sample before the call, every `interval_s` seconds during the call, and after it, while its result still
    exists. A thread takes the samples: a forked process, as in memory_profiler, may deadlock with torch's threads.
    Exceptions of the call are not caught.
    """
    seen, done = [resident_bytes()], threading.Event()

    def sample() -> None:
        while not done.wait(interval_s):
            seen.append(resident_bytes())

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        result = call()
    finally:
        done.set()
        thread.join()
    seen.append(resident_bytes())
    del result
    return seen


def traced_peak(call: Callable[[], object]) -> int:
    """Call a function once, and return the peak of the bytes that Python's allocator reserved during the call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def page_faults() -> int | None:
    """Return the number of minor page faults of this process since its start, or None on Windows."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def _resets_peak() -> bool:
    with suppress(OSError):
        return bool(_CLEAR.write_text("5"))
    return False
