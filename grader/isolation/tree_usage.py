"""Measure the memory, threads and disk writes of a whole process tree, because the kernel limits only each process."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.isolation import proc

TREE_SHARE: Final = 2
"""The memory limit of a tree divided by the limit of one worker. Several workers of a submission may run at once."""

SLACK_BYTES: Final = 128 << 20
"""Additional memory allowed for each process: tensors that it shares with the supervisor, and a reserve."""

MOST_TASKS: Final = 1024
"""The most processes and threads of a tree together."""

DISK_BYTES: Final = 1 << 30
"""The most bytes that a tree without namespaces may write to disk. Its folder has no size limit of its own."""

_OWN_MEMORY: Final = ("RssAnon", "RssShmem", "VmSwap")


@dataclass(frozen=True, slots=True)
class Usage:
    """The use of resources: bytes of memory, without pages of files, and the number of processes and threads."""

    memory_bytes: int
    tasks: int


def allowed_bytes(memory_bytes: int, processes: int) -> int:
    """Return the memory that a tree may use if each of its workers may use `memory_bytes`."""
    return TREE_SHARE * memory_bytes + processes * SLACK_BYTES


def of_process(pid: int) -> Usage:
    """Return the memory and the threads of one process, or zeros if it no longer exists."""
    try:
        fields = proc.memory_fields(pid, "status")
    except (FileNotFoundError, ProcessLookupError):
        return Usage(0, 0)
    return Usage(sum(fields.get(name, 0) for name in _OWN_MEMORY) << 10, fields.get("Threads", 0))


def written_bytes(pids: Iterable[int]) -> int:
    """Return the bytes that these processes and their reaped children have written to disk.

    The kernel counts a byte when a page of a file is changed. So it also counts files that were removed while open, and
    pages written through a memory mapping. A process that no longer exists counts 0. The result is also 0 if the kernel
    does not count (Linux: Documentation/filesystems/proc.rst, /proc/<pid>/io).
    """
    return sum(map(_written_bytes, pids))


def _written_bytes(pid: int) -> int:
    try:
        return proc.fields(Path(f"/proc/{pid}/io").read_bytes()).get("write_bytes", 0)
    except OSError:
        return 0


def total_usage(pids: Iterable[int], shared_bytes: int) -> Usage:
    """Return the memory and the threads of these processes together.

    `shared_bytes` is subtracted from the memory of each process: the memory of the process from which it was forked.
    """
    each = [of_process(pid) for pid in pids]
    return Usage(sum(max(0, one.memory_bytes - shared_bytes) for one in each), sum(one.tasks for one in each))
