"""What the kernel reports of process trees, in `/proc`.

A submission chooses what some of it says: the names of its processes are any 15 bytes, and a process may end its first
thread and go on in another. So files are read as bytes, and memory is read from a thread that still has some.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Final

from harness import twins

_FIELD: Final = re.compile(rb"^(\w+):[ \t]+([0-9]{1,18})(?: kB)?$", re.MULTILINE)
"""A field that is one number. A line break within a process's name is written as two characters."""

_MEMORY_FIELDS: Final = frozenset({"VmRSS", "Rss"})
"""A file on a thread that still has memory shows one of these."""

_MOST_READINGS: Final = 3
"""A thread that is listed may have ended before it is read, so the list is read again."""


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


def memory_fields(pid: int, file: str) -> dict[str, int]:
    """Return the numeric fields of `status` or `smaps_rollup`, by name; amounts of memory are in KiB.

    A process whose first thread has ended shows no memory in its own files while its other threads go on, so the files
    of these threads are read then. All threads of a process share its memory. A process that has ended has no memory
    fields. Raises `ProcessLookupError` for a process that is gone.
    """
    found = fields(_of_process(pid, file))
    for _ in range(_MOST_READINGS):
        if found.keys() & _MEMORY_FIELDS:
            break
        for thread in twins.threads(pid):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                of_thread = fields(_read(f"/proc/{pid}/task/{thread}/{file}"))
                if of_thread.keys() & _MEMORY_FIELDS:
                    return of_thread
    return found


def fields(text: bytes) -> dict[str, int]:
    """Return the fields of a file of `/proc` whose value is one number. Pure."""
    return {name.decode(): int(value) for name, value in _FIELD.findall(text)}


def _of_process(pid: int, file: str) -> bytes:
    """Return what a file says; b"" when only the process's first thread, which the file is about, has ended."""
    try:
        return _read(f"/proc/{pid}/{file}")
    except ProcessLookupError:
        return b""
    except FileNotFoundError:
        if os.path.exists(f"/proc/{pid}"):  # noqa: PTH110 - `Path` takes five times as long
            raise
        raise ProcessLookupError(pid) from None


def _read(path: str) -> bytes:
    """Read what the kernel says in a few lines: each round of a duel asks, and `Path` takes five times as long."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)
