"""Processes that differ in nothing but the code they run.

Address layout and the hash seed alone move a benchmark by 2 to 6 %. Twins are therefore started alike: `exec`'d with
the same binary, the same environment, address space randomisation off and a fixed hash seed, or forked from processes
that were; each takes its place on one core when its turn comes, and is timed from outside by its process CPU clock
(`harness.clocks.process_cpu`). Now and then a pair is off by several per cent all the same, however it was started,
for a while or for life (`tests/benchmarks/layouts.py` counts how often): so a verdict is the median over several pairs.

Linux brings another process's CPU clock up to date when that process leaves its core, and while it runs at every tick
only, up to 4 ms late. So whoever reads the clock takes the twins' own core first (`pinned`): when the reader runs, they
do not, and the reading is exact.
"""

import os
import platform
import shutil
import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Final

ENVIRONMENT: Final = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - a worker's own, inside its sandbox
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
}
"""The whole environment of a twin: nothing of the caller's comes along.

With `OMP_WAIT_POLICY` threads of OpenMP sleep while they wait for work. On the one core that they have here, they would
otherwise spin for milliseconds after each call, in the other twin's turn.

Left out are huge pages for malloc (`GLIBC_TUNABLES=glibc.malloc.hugetlb=1`) and `PYTHONMALLOC=malloc`: they moved the
bad pairs from one kind of work to another and made them no rarer (`tests/benchmarks/layouts.py` shows all ways side by
side)."""


_SETARCH: Final = ("setarch", platform.machine(), "-R")

Cores = int | Collection[int] | None
"""A core, or several, or wherever the system likes."""


NO_SETARCH: Final = "setarch is missing"


@cache
def layout_trouble() -> str:
    """Return why no process can start here without address space randomisation; "" when one can.

    A container often has `setarch` and refuses what it asks for: Docker's seccomp profile denies
    `personality(ADDR_NO_RANDOMIZE)`. So it is tried, once.
    """
    if shutil.which("setarch") is None:
        return NO_SETARCH
    try:
        tried = subprocess.run([*_SETARCH, "true"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"setarch does not run: {error}"
    said = tried.stderr.strip() or f"setarch ends with status {tried.returncode}"
    return said.splitlines()[-1][:200] if tried.returncode else ""


def fixed_layout() -> bool:
    """Whether this machine can start a process without address space randomisation (Linux with util-linux)."""
    return not layout_trouble()


def command(argv: Sequence[str]) -> list[str]:
    """The command that starts `argv` with a fixed layout, where the machine can."""
    return [*_SETARCH, *argv] if fixed_layout() else list(argv)


def pin(pid: int, cores: Cores) -> None:
    """Let the process, with all its threads, run on these cores from now on (nothing where there is no affinity).

    Raises `ProcessLookupError` when there is no such process. Threads it starts from now on inherit the core.
    """
    if cores is None or not hasattr(os, "sched_setaffinity"):
        return
    os.sched_setaffinity(pid, _set(cores))
    for thread in threads(pid):
        with suppress(ProcessLookupError):  # it has just ended
            os.sched_setaffinity(thread, _set(cores))


def stays(pid: int, cores: Cores) -> bool:
    """Whether every thread of the process is still bound to the cores it was pinned to."""
    if cores is None or not hasattr(os, "sched_getaffinity"):
        return True
    for thread in threads(pid):
        with suppress(ProcessLookupError):
            if os.sched_getaffinity(thread) != _set(cores):
                return False
    return True


@contextmanager
def pinned(cores: Cores) -> Iterator[None]:
    """Keep the calling thread on these cores for a while. Processes it starts meanwhile inherit that."""
    if cores is None or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, _set(cores))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _set(cores: int | Collection[int]) -> set[int]:
    return {cores} if isinstance(cores, int) else set(cores)


def threads(pid: int) -> list[int]:
    """Threads of a process, none of a gone one. Affinity belongs to each alone (Linux: sched_setaffinity(2))."""
    try:
        with os.scandir(f"/proc/{pid}/task") as found:
            return [int(thread.name) for thread in found]
    except FileNotFoundError:
        return []
