"""What a whole process tree uses, seen from outside: each process has limits of its own, and many may share a tree."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.isolation import proc

TREE_SHARE: Final = 2
"""A tree may use this many times what one worker may: several live at once, and each is one of the same submission."""

SLACK_BYTES: Final = 128 << 20
"""And so much for each process: tensors that it shares with the supervisor, and what it has to spare."""

MOST_TASKS: Final = 1024
"""Processes and threads of a tree, together."""

DISK_BYTES: Final = 1 << 30
"""What a tree without namespaces may write to disk in its life: its folder has no bound of its own."""

_OWN_MEMORY: Final = ("RssAnon", "RssShmem", "VmSwap")


@dataclass(frozen=True, slots=True)
class Usage:
    """Memory that is not a file's, and processes and threads."""

    memory_bytes: int
    tasks: int


def allowed_bytes(memory_bytes: int, processes: int) -> int:
    """What a tree may use whose workers may use `memory_bytes` each."""
    return TREE_SHARE * memory_bytes + processes * SLACK_BYTES


def of_process(pid: int) -> Usage:
    """What one process uses; nothing when it is gone."""
    try:
        fields = proc.memory_fields(pid, "status")
    except (FileNotFoundError, ProcessLookupError):
        return Usage(0, 0)
    return Usage(sum(fields.get(name, 0) for name in _OWN_MEMORY) << 10, fields.get("Threads", 0))


def written_bytes(pids: Iterable[int]) -> int:
    """Bytes that these processes have written to disk, with those they have reaped: what made a page of a file dirty.

    It counts a file that was removed and is still open, too, and a page that was written through a mapping. 0 for what
    is gone, or where the kernel does not count (Linux: Documentation/filesystems/proc.rst, /proc/<pid>/io).
    """
    return sum(map(_written_bytes, pids))


def _written_bytes(pid: int) -> int:
    try:
        return proc.fields(Path(f"/proc/{pid}/io").read_bytes()).get("write_bytes", 0)
    except OSError:
        return 0


def grown(pids: Iterable[int], shared_bytes: int) -> Usage:
    """What these use together, each beyond `shared_bytes`: what it shares with the process it was forked from."""
    each = [of_process(pid) for pid in pids]
    return Usage(sum(max(0, one.memory_bytes - shared_bytes) for one in each), sum(one.tasks for one in each))
