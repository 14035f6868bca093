"""Start processes that differ only in the code that they run.

A different memory layout or hash seed alone changes a benchmark by 2 to 6 %. So both processes of a pair start with the
same binary and environment, without address space randomisation, and with a fixed hash seed, on one core. Linux updates
the CPU clock of another process when this process leaves its core, and otherwise only at timer ticks, up to 4 ms late.
So the process that reads the clock runs on the same core (`pinned`).
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
    "HOME": "/tmp",  # noqa: S108 - in a sandbox, each worker has its own /tmp
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
    "CUDA_VISIBLE_DEVICES": "",
}
"""All environment variables of a process in a pair. With `OMP_WAIT_POLICY=PASSIVE`, waiting OpenMP threads do not keep
the core busy. The processes find no GPU, because a CPU clock does not measure its work."""

_SETARCH: Final = ("setarch", platform.machine(), "-R")

Cores = int | Collection[int] | None  # None stands for any core

NO_SETARCH: Final = "setarch is missing"


@cache
def why_layout_varies() -> str:
    """Return why this machine cannot start processes without address space randomisation, or "" if it can.

    A container often has `setarch`, but forbids its system call, as Docker does. So it is tried once.
    """
    if shutil.which("setarch") is None:
        return NO_SETARCH
    try:
        tried = subprocess.run([*_SETARCH, "true"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"setarch does not run: {error}"
    message = tried.stderr.strip() or f"setarch ends with status {tried.returncode}"
    return message.splitlines()[-1][:200] if tried.returncode else ""


def command(argv: Sequence[str]) -> list[str]:
    """Return a command that starts `argv` without address space randomisation. If this is impossible, return `argv`."""
    return [*_SETARCH, *argv] if not why_layout_varies() else list(argv)


def pin(pid: int, cores: Cores) -> None:
    """Bind a process and all its threads to these cores. Raise `ProcessLookupError` if there is no such process."""
    if cores is None or not hasattr(os, "sched_setaffinity"):
        return
    os.sched_setaffinity(pid, _set(cores))
    for thread in threads(pid):
        with suppress(ProcessLookupError):  # the thread has just ended
            os.sched_setaffinity(thread, _set(cores))


def is_pinned(pid: int, cores: Cores) -> bool:
    """Return whether every thread of the process is still bound to these cores."""
    if cores is None or not hasattr(os, "sched_getaffinity"):
        return True
    for thread in threads(pid):
        with suppress(ProcessLookupError):
            if os.sched_getaffinity(thread) != _set(cores):
                return False
    return True


@contextmanager
def pinned(cores: Cores) -> Iterator[None]:
    """Bind the calling thread, and processes that it starts, to these cores until the end of the `with` block."""
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
    """Return the ids of a process's threads, which have their own CPU affinity, or [] if the process has ended."""
    try:
        with os.scandir(f"/proc/{pid}/task") as found:
            return [int(thread.name) for thread in found]
    except FileNotFoundError:
        return []
