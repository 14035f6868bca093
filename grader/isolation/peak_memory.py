"""Read the peak memory of a worker, a process that runs a submission, from the kernel.

Linux records for each process the most memory that was ever resident (`VmHWM`): its own pages, pages of files, and
shared pages. This peak includes memory that was freed again. A worker starts with the pages of the process from which
it was forked, and shares each page until it writes to the page. The submission did not cause these pages. So the pages
that are still shared at the end are subtracted. A page that the worker has released or written to is not subtracted. So
a submission gains nothing by releasing its initial pages. All memory since the file was loaded counts: memory from
imports, caches, and the code of libraries.

Pages of files, such as code, count in the peak, and are also reported separately. Their number depends on the machine.
When a process reads a page of a file, Linux maps neighbouring pages of its page cache too. The same calls of torch
mapped 20 MiB with one installation of torch, and 74 MiB with another one.

A process can lower its own peak by writing to its `/proc`. In the sandbox, `/proc` is read-only. Without a sandbox, on
a student's own machine, it is writable.

Source: Documentation/filesystems/proc.rst of Linux.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from grader.errors import MachineError
from grader.isolation import proc

_FORKED: Final = 2
"""A page that the worker still shares with the process that forked it is mapped by this number of processes."""


class Memory(NamedTuple):
    """The peak memory of a process so far, and its memory now filled by pages of files such as code. In bytes."""

    peak: int
    files: int


def memory(pid: int) -> Memory:
    """Return the memory of a forked process. Its peak leaves out the pages that it still shares with its parent.

    Raise `MachineError` if the kernel does not report the memory, and `ProcessLookupError` if the process has ended.
    """
    return beyond_shared(_fields(pid, "status"), _fields(pid, "smaps_rollup"))


def beyond_shared(status: Mapping[str, int], rollup: Mapping[str, int]) -> Memory:
    """Return the memory of a forked process, without the pages that it shares with its parent.

    `status` and `rollup` are the memory fields of `/proc/<pid>/status` and `/proc/<pid>/smaps_rollup`, in bytes. `Pss`
    counts half of each page that two processes share.
    """
    try:
        shared = (rollup["Anonymous"] - rollup["Pss_Anon"]) * _FORKED // (_FORKED - 1)
        return Memory(status["VmHWM"] + status.get("VmSwap", 0) - shared, status["RssFile"])
    except KeyError as missing:
        raise MachineError(
            f"This kernel does not report {missing} of a process. Grade on Linux 5.10 or newer."
        ) from None


def _fields(pid: int, name: str) -> dict[str, int]:
    try:
        found = proc.memory_fields(pid, name)
    except (FileNotFoundError, ProcessLookupError):
        if Path(f"/proc/{pid}").exists() or not Path("/proc/self").exists():
            raise MachineError("This system does not report the peak memory of a process. Grade on Linux.") from None
        raise ProcessLookupError(pid) from None
    except PermissionError:
        raise MachineError(
            "This system does not let a process read another process's memory use. Grade on a machine where /proc "
            "shows your own processes."
        ) from None
    return {field: kib << 10 for field, kib in found.items()}
