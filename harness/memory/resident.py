"""Measure resident memory, the memory of a process that is in RAM: now, at its peak during a call, or of a script.

A call that only returns a coroutine or an iterator is refused with `UsageError`, because its work has not run yet.

For a script, memory_profiler samples it over time. The samples miss a peak between two of them.
"""

import gc
import math
import re
import sys
import tempfile
import threading
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

from harness.charts import svg as drawing
from harness.errors import UsageError
from harness.memory.lines import MIB
from harness.profiles.stats import run_module, write_script
from harness.timeable import first_result

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

    The result exists until the last measurement. The memory of other threads counts too. Garbage is collected before.
    """
    gc.collect()
    if not _resets_peak():
        seen = memory_samples(call, interval_s=1e-3)
        return MemoryUse(seen[0], max(seen), seen[-1], exact=False)
    before_bytes = resident_bytes()
    result = first_result(call)
    after_bytes = resident_bytes()
    del result
    peak_bytes = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) << 10
    return MemoryUse(before_bytes, max(peak_bytes, before_bytes, after_bytes), after_bytes, exact=True)


def memory_samples(call: Callable[[], object], interval_s: float) -> list[int]:
    """Call a function once, and return samples of the resident memory in bytes.

    There is a sample before the call, every `interval_s` seconds during the call, and after it, while its result still
    exists. Exceptions of the call are not caught. Raise `ValueError` if the interval is not above 0 and finite.
    """
    if not 0 < interval_s < math.inf:
        raise ValueError(f"The interval between two samples must be above 0 s and finite, not {interval_s:g} s.")
    seen, done = [resident_bytes()], threading.Event()

    def sample() -> None:
        while not done.wait(interval_s):
            seen.append(resident_bytes())

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        result = first_result(call)
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
        first_result(call)
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


@dataclass(frozen=True, slots=True)
class Timeline:
    """The memory of a process over time: samples (seconds, resident bytes), and an SVG plot of the samples by mprof."""

    samples: tuple[tuple[float, float], ...]
    svg: str = ""

    @property
    def peak_bytes(self) -> float:
        """The largest memory of all samples, in bytes."""
        return max(bytes_ for _, bytes_ in self.samples)


def timeline(script: str, *, title: str, plotted: bool = True) -> Timeline:
    """Run a script under `mprof run`, and return the samples of its process's memory, one every 10 ms.

    With `plotted`, the result has a plot with this title, in which functions with the decorator `@profile` are marked.
    Raise `UsageError` if `mprof` fails.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-mprof-") as folder:
        path, data, plot = (str(Path(folder, name)) for name in ("script.py", "memory.dat", "memory.svg"))
        write_script(Path(path), script)
        run_module("mprof", "run", "--interval", "0.01", "--output", data, "--exit-code", path)
        samples = parse_samples(Path(data).read_text(encoding="utf-8"))
        if not plotted:
            return Timeline(samples)
        run_module("mprof", "plot", "--backend", "svg", "--title=" + title.replace("$", r"\$"), "--output", plot, data)
        most = max(bytes_ for _, bytes_ in samples) / MIB
        facts = f"{len(samples)} samples over {samples[-1][0]:.2f} s, at most {most:.1f} MiB."
        words, svg = drawing.title_and_description(title, facts), Path(plot).read_text(encoding="utf-8")
        svg = re.sub(r"<svg\b[^>]*>", lambda match: f"{match[0]}\n{words}", svg, count=1)
        return Timeline(samples, svg)


def parse_samples(data: str) -> tuple[tuple[float, float], ...]:
    """Return the samples in a file of mprof, in order of time. Raise `UsageError` if there are none."""
    lines = [line.split() for line in data.splitlines()]
    seen = sorted((float(line[2]), float(line[1])) for line in lines if line[:1] == ["MEM"] and float(line[1]))
    if not seen:
        raise UsageError("mprof recorded no sample of the script; let the script run longer.")
    began_s = seen[0][0]
    return tuple((at_s - began_s, mib * MIB) for at_s, mib in seen)
