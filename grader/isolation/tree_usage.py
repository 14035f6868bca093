"""Measure the memory, threads and disk writes of all processes of a sandbox together.

The kernel limits only each process.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.isolation import proc

TREE_SHARE: Final = 2
"""All processes of a sandbox together may use this many times the memory of one process."""

SLACK_BYTES: Final = 128 << 20
"""Additional bytes allowed per process: tensors that it shares with the grader, and a reserve."""

MOST_TASKS: Final = 1024
"""The most processes and threads of a sandbox together."""

DISK_BYTES: Final = 1 << 30
"""The most bytes that a sandbox without Linux namespaces may write to disk, where its folder has no size limit."""

_OWN_MEMORY: Final = ("RssAnon", "RssShmem", "VmSwap")


@dataclass(frozen=True, slots=True)
class Usage:
    """The bytes of memory, without pages of files, and the number of processes and threads."""

    memory_bytes: int
    tasks: int


def allowed_bytes(memory_bytes: int, processes: int) -> int:
    """Return the bytes of memory that `processes` processes may use together if each may use `memory_bytes`."""
    return TREE_SHARE * memory_bytes + processes * SLACK_BYTES


def of_process(pid: int) -> Usage:
    """Return the memory and the threads of one process, or zeros if it no longer exists."""
    try:
        fields = proc.status(pid)
    except (FileNotFoundError, ProcessLookupError):
        return Usage(0, 0)
    return Usage(sum(fields.get(name, 0) for name in _OWN_MEMORY) << 10, fields.get("Threads", 0))


def written_bytes(pids: Iterable[int]) -> int:
    """Return the bytes that these processes and their reaped children have written to disk.

    Bytes count when a page of a file is changed, also in a memory mapping or in a removed file that is still open. A
    process that no longer exists counts 0. The result is 0 if the kernel does not count (proc_pid_io(5)).
    """
    written = 0
    for pid in pids:
        with suppress(OSError):
            written += proc.fields(Path(f"/proc/{pid}/io").read_bytes()).get("write_bytes", 0)
    return written


def total_usage(pids: Iterable[int], shared_bytes: int) -> Usage:
    """Return the memory and the threads of these processes together.

    `shared_bytes`, the memory of the process from which they were forked, is subtracted from the memory of each.
    """
    each = [of_process(pid) for pid in pids]
    return Usage(sum(max(0, one.memory_bytes - shared_bytes) for one in each), sum(one.tasks for one in each))
