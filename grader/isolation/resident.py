"""The most memory that a worker has had, as its kernel keeps it: read from outside, when its work is done.

Linux notes for each process the most that was ever resident of it (`VmHWM`: pages of its own, of files, and shared
ones). It is written down page by page as they come and go: what is freed again at once is in it. A worker begins its
life with what the process had that it was forked from, and shares these pages with it until it writes to them. They are
no doing of the submission's, so they are taken off, but only those that it still shares when it is done: each page that
it has given away or written to meanwhile stays in. So a submission that first drops what it began with has no more room
for it, and nothing that it holds since it was loaded is left out: memory from import, caches, code of libraries.

A process may lower its own mark by a write to its `/proc`, which is read-only in the sandbox. Without one, where a
student checks their own work, it is not.

Linux: Documentation/filesystems/proc.rst.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from grader.errors import MachineError
from grader.isolation import proc

_FORKED: Final = 2
"""Processes that map a page which is shared: the worker, and the one it was forked from."""


def peak_bytes(pid: int) -> int:
    """The most that a forked process had at once, beyond what it shares with the one it was forked from.

    Raises `MachineError` where the kernel does not tell, and `ProcessLookupError` for a process that is gone.
    """
    return beyond_shared(_fields(pid, "status"), _fields(pid, "smaps_rollup"))


def beyond_shared(status: Mapping[str, int], rollup: Mapping[str, int]) -> int:
    """The same of what `/proc` says in its files, in bytes. Pure.

    A page that two processes map counts half in `Pss`, the proportional share of each.
    """
    try:
        shared = (rollup["Anonymous"] - rollup["Pss_Anon"]) * _FORKED // (_FORKED - 1)
        return status["VmHWM"] + status.get("VmSwap", 0) - shared
    except KeyError as missing:
        raise MachineError(f"This kernel does not tell {missing} of a process: grade on Linux 5.10 or newer.") from None


def _fields(pid: int, name: str) -> dict[str, int]:
    """Return the amounts of memory in a file of `/proc`, in bytes."""
    try:
        found = proc.memory_fields(pid, name)
    except (FileNotFoundError, ProcessLookupError):
        if Path(f"/proc/{pid}").exists() or not Path("/proc/self").exists():
            raise MachineError("This system does not tell a process's peak memory: grade on Linux.") from None
        raise ProcessLookupError(pid) from None
    except PermissionError:
        raise MachineError(
            "This system does not let one process see another's memory: grade where /proc shows your own processes."
        ) from None
    return {field: kib << 10 for field, kib in found.items()}
