"""Read the kernel's information about processes in `/proc`.

A submission can try to confuse these functions. It may choose any 15 bytes as its process's name, so files are read as
bytes. It may end its process's first thread and continue in another thread, so memory is read from a living thread.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Final

from harness.paired import process_env

_FIELD: Final = re.compile(rb"^(\w+):[ \t]+([0-9]{1,18})(?: kB)?$", re.MULTILINE)
"""Matches a field that is one number. A process's name cannot imitate a field: its line breaks are written as `\\n`."""

_MEMORY_FIELDS: Final = frozenset({"VmRSS", "Rss"})
"""The file `status` or `smaps_rollup` of a thread that has not ended contains one of these fields."""

_MOST_READINGS: Final = 3
"""The most times that the list of threads is read. A listed thread may end before its file is read."""


def processes(root: int) -> Iterator[int]:
    """Yield the process ids of `root` and all of its running descendants."""
    yield root
    for child in children(root):
        yield from processes(child)


def ended_children(pid: int) -> int:
    """Return the number of page faults of a process's ended children, which grows whenever another child ends.

    A child counts after its parent has waited for it. Every process has at least one page fault (Linux:
    proc_pid_stat(5)). Raise `ProcessLookupError` if the process no longer exists.
    """
    try:
        after_name = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except FileNotFoundError:
        raise ProcessLookupError(pid) from None
    return int(after_name[8])


def children(pid: int) -> list[int]:
    """Return the process ids of a process's children. The kernel lists them separately for each thread."""
    found: list[int] = []
    for thread in process_env.threads(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            found += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return found


def memory_fields(pid: int, file: str) -> dict[str, int]:
    """Return the numeric fields of the file `status` or `smaps_rollup` of a process. Memory is in KiB.

    If a process's first thread has ended, the process's own files show no memory. Then the file of another thread is
    read, because all threads of a process share its memory. A process that has ended has no memory fields. Raise
    `ProcessLookupError` if the process no longer exists.
    """
    found = fields(_of_process(pid, file))
    for _ in range(_MOST_READINGS):
        if found.keys() & _MEMORY_FIELDS:
            break
        for thread in process_env.threads(pid):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
                of_thread = fields(_read(f"/proc/{pid}/task/{thread}/{file}"))
                if of_thread.keys() & _MEMORY_FIELDS:
                    return of_thread
    return found


def fields(text: bytes) -> dict[str, int]:
    """Return the fields whose value is one number, from the content of a file of `/proc`. Pure."""
    return {name.decode(): int(value) for name, value in _FIELD.findall(text)}


def _of_process(pid: int, file: str) -> bytes:
    """Return the content of a file of a process in `/proc`, or b"" if the process's first thread has ended."""
    try:
        return _read(f"/proc/{pid}/{file}")
    except ProcessLookupError:
        return b""
    except FileNotFoundError:
        if os.path.exists(f"/proc/{pid}"):  # noqa: PTH110 - `Path` takes five times as long
            raise
        raise ProcessLookupError(pid) from None


def _read(path: str) -> bytes:
    """Return the content of a short file. `Path` is five times slower, and this runs in each round of a duel."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)
