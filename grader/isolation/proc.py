"""What the kernel tells of process trees, in `/proc`."""

import contextlib
import os
from collections.abc import Iterator

from harness import twins


def processes(root: int) -> Iterator[int]:
    """The process and all its descendants, as far as they still run."""
    yield root
    for child in children(root):
        yield from processes(child)


def ended_children(pid: int) -> int:
    """A count that grows whenever a process reaps a child: the page faults of those (Linux: proc_pid_stat(5)).

    None lives without any. Raises `ProcessLookupError` for a process that is gone.
    """
    try:
        after_name = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except FileNotFoundError:
        raise ProcessLookupError(pid) from None
    return int(after_name[8])


def children(pid: int) -> list[int]:
    """Children of all threads of a process: each thread has its own."""
    found: list[int] = []
    for thread in twins.threads(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            found += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return found


def _read(path: str) -> bytes:
    """Read what the kernel says in a few lines: each round of a duel asks, and `Path` takes five times as long."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)
