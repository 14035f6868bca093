"""Read the kernel's information about processes in `/proc`, and add up what all processes of a sandbox use.

A submission can try to confuse these functions. It may choose any 15 bytes as its process's name, so files are read as
bytes. It may end its process's first thread and continue in another thread, so memory is read from a living thread.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from grader.inside.template_main import NEW_FOLDERS
from harness.processes import process_env

# A process cannot imitate a field with its name: the kernel writes line breaks in names as `\n`.
_FIELD: Final = re.compile(rb"^(\w+):[ \t]+([0-9]{1,18})(?: kB)?$", re.MULTILINE)

_MOST_READINGS: Final = 3  # a listed thread may end before its file is read

TREE_SHARE: Final = 2
"""All processes of a sandbox together may use this many times the memory of one process."""

SLACK_BYTES: Final = 128 << 20
"""Additional bytes allowed per process: tensors that it shares with the grader, and a reserve."""

MOST_TASKS: Final = 1024
"""The most processes and threads of a sandbox together."""

DISK_BYTES: Final = 1 << 30
"""The most bytes that a sandbox without Linux namespaces may write to disk, where its folder has no size limit."""

KERNEL_BYTES: Final = 1 << 30
"""The most bytes by which the kernel's own memory may grow in a task, if less than a quarter of the memory is left."""

_OWN_MEMORY: Final = ("RssAnon", "RssShmem", "VmSwap", "VmPTE")
_NOT_KERNEL: Final = ("MemFree", "Buffers", "Cached", "SReclaimable", "AnonPages")


class Usage(NamedTuple):
    """The bytes of memory, without pages of files, and the number of processes and threads."""

    memory_bytes: int
    tasks: int


def processes(root: int) -> list[int]:
    """Return the process ids of process `root` and of all its running descendants."""
    found = [root]
    for pid in found:  # the list grows meanwhile
        found += children(pid)
    return found


def ended_children(pid: int) -> int:
    """Return a number that grows whenever a child of the process ends: the page faults of its ended children.

    Each child has at least one page fault. It is counted after its parent has waited for it (proc_pid_stat(5)). Raise
    `ProcessLookupError` if the process itself no longer exists.
    """
    try:
        after_name = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except FileNotFoundError:
        raise ProcessLookupError(pid) from None
    return int(after_name[8])


def children(pid: int) -> list[int]:
    """Return the process ids of a process's children, those of all its threads."""
    return [int(child) for text in _of_threads(pid, "children") for child in text.split()]


def status(pid: int) -> dict[str, int]:
    """Return the fields of /proc/PID/status that are numbers, by name. Memory is in KiB.

    If the process's first thread has ended, the file of another thread is read, because all threads share their memory.
    An ended process has no memory fields. Raise `ProcessLookupError` if the process no longer exists.
    """
    found = fields(_of_process(pid, "status"))
    for _ in range(_MOST_READINGS):
        if "VmRSS" not in found:
            others = map(fields, _of_threads(pid, "status"))
            found = next((one for one in others if "VmRSS" in one), found)
    return found


def mappings(pid: int) -> bytes:
    """Return /proc/PID/smaps, which has the memory of each mapping. It is the same for each thread of the process.

    Raise `ProcessLookupError` if the process no longer exists.
    """
    return _of_process(pid, "smaps") or next(filter(None, _of_threads(pid, "smaps")), b"")


def is_stopped(pid: int) -> bool:
    """Return whether all threads of a process are stopped by a signal, or have ended."""
    states = {text.rpartition(b")")[2].split()[0] for text in _of_threads(pid, "stat")}
    return states <= {b"T", b"Z", b"X"}


def fields(text: bytes) -> dict[str, int]:
    """Return the fields of a file of `/proc` whose value is one number, by name."""
    return {name.decode(): int(value) for name, value in _FIELD.findall(text)}


def allowed_bytes(memory_bytes: int, processes: int) -> int:
    """Return the bytes of memory that `processes` processes may use together if each may use `memory_bytes`."""
    return TREE_SHARE * memory_bytes + processes * SLACK_BYTES


def of_process(pid: int) -> Usage:
    """Return the memory and the threads of one process, or zeros if it no longer exists."""
    try:
        found = status(pid)
    except (FileNotFoundError, ProcessLookupError):
        return Usage(0, 0)
    return Usage(sum(found.get(name, 0) for name in _OWN_MEMORY) << 10, found.get("Threads", 0))


def written_bytes(pids: Iterable[int]) -> int:
    """Return the bytes that these processes and their reaped children have written to disk.

    Bytes count when a page of a file is changed, also in a memory mapping or in a removed file that is still open. A
    process that no longer exists counts 0. The result is 0 if the kernel does not count (proc_pid_io(5)).
    """
    written = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            written += fields(_read(f"/proc/{pid}/io")).get("write_bytes", 0)
    return written


def kernel_memory() -> tuple[int, bool]:
    """Return the bytes of this machine's memory that belong to no process, and whether memory is short.

    They include files in memory, but no cached files of disks. Return zeros where there is no `/proc`.
    """
    with contextlib.suppress(OSError):
        found = fields(_read("/proc/meminfo"))
        kernel_kib = found["MemTotal"] + found["Shmem"] - sum(found[name] for name in _NOT_KERNEL)
        return kernel_kib << 10, found["MemAvailable"] < found["MemTotal"] / 4
    return 0, False


def file_count(pid: int, folder: Path | None, most: int) -> int:
    """Return the number of files to which the sandbox of process `pid` may write. More than `most` are not counted.

    `folder` is the sandbox's folder on a disk, or None if it has file systems of its own. A folder that cannot be
    listed counts as more than `most` files. Raise `ProcessLookupError` if the process no longer exists.
    """
    if folder is None:
        try:
            found = [os.statvfs(f"/proc/{pid}/root{one}") for one in NEW_FOLDERS]
        except FileNotFoundError:
            raise ProcessLookupError(pid) from None
        return sum(one.f_files - one.f_ffree for one in found)
    count = 0
    try:
        for _, folders, files in os.walk(folder, onerror=_unless_gone):
            count += len(folders) + len(files)
            if count > most:
                break
    except OSError:
        return most + 1
    return count


def _unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def total_usage(pids: Iterable[int], shared_bytes: int) -> Usage:
    """Return the memory and the threads of these processes together.

    `shared_bytes`, the memory of the process from which they were forked, is subtracted from the memory of each.
    """
    each = [of_process(pid) for pid in pids]
    return Usage(sum(max(0, one.memory_bytes - shared_bytes) for one in each), sum(one.tasks for one in each))


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)  # pathlib takes five times as long, and every round of a duel reads
    try:
        return b"".join(iter(lambda: os.read(descriptor, 1 << 16), b""))
    finally:
        os.close(descriptor)


def _of_process(pid: int, file: str) -> bytes:
    try:
        return _read(f"/proc/{pid}/{file}")
    except ProcessLookupError:
        return b""
    except FileNotFoundError:
        if os.path.exists(f"/proc/{pid}"):  # noqa: PTH110 - `Path` takes five times as long
            raise
        raise ProcessLookupError(pid) from None


def _of_threads(pid: int, file: str) -> Iterator[bytes]:
    for thread in process_env.threads(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            yield _read(f"/proc/{pid}/task/{thread}/{file}")
