"""Read the peak memory of a worker, a process that runs a submission, from the kernel.

Linux records for each process the most memory that was ever resident (`VmHWM`), with pages of files and with memory
that was freed again. A worker shares each page of the process from which it was forked until it writes to the page. The
submission did not cause the pages that are still shared at the end, so they are subtracted. A page that the worker has
released or written to is not subtracted, so a submission gains nothing by releasing its initial pages.

Any number of processes may share a page, because all process trees of a template process have its pages. So the
kernel's list of mappings is read (`smaps`), with the shared bytes of each. The worker is stopped meanwhile, so that it
cannot move its mappings.

Pages of files, such as torch's code, count. They must not be subtracted, because a process can release them before the
peak and read them again after it. A shared page of the parent process cannot return: once released or written to, its
content is a new page of the worker.

A process can lower its own peak by writing to its `/proc`. In the sandbox, `/proc` is read-only.

Source: Documentation/filesystems/proc.rst of Linux.
"""

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from grader.errors import MachineError
from grader.isolation import proc

_STOPS_WITHIN_S: Final = 5.0
_MAPPING: Final = re.compile(
    rb"^Rss: +(\d+) kB\n(?:.*\n)*?Shared_Clean: +(\d+) kB\nShared_Dirty: +(\d+) kB\n(?:.*\n)*?Anonymous: +(\d+) kB$",
    re.MULTILINE,
)


def peak_bytes(pid: int) -> int:
    """Return the peak memory of a forked process, without the pages that it shares with other processes.

    Raise `MachineError` if the kernel does not report the memory, and `ProcessLookupError` if the process has ended.
    """
    try:
        with _stopped(pid):
            return peak_beyond(shared_bytes(proc.mappings(pid)), proc.status(pid))
    except (FileNotFoundError, ProcessLookupError, PermissionError) as error:
        if isinstance(error, ProcessLookupError) and Path("/proc/self").exists():
            raise
        raise MachineError(
            "This system does not report the peak memory of a process. Grade on Linux, on a machine where /proc shows "
            "your own processes."
        ) from None


def peak_beyond(shared: int, status: Mapping[str, int]) -> int:
    """Return the peak memory in bytes, without the `shared` ones. `status` has fields of `/proc/PID/status`, in KiB."""
    try:
        return (status["VmHWM"] + status.get("VmSwap", 0) << 10) - shared
    except KeyError as missing:
        raise MachineError(
            f"This kernel does not report {missing} of a process. Grade on Linux 5.10 or newer."
        ) from None


def shared_bytes(smaps: bytes) -> int:
    """Return how many bytes of a process's memory are shared with other processes, without pages of files.

    `smaps` is the content of `/proc/PID/smaps`. A mapping of a file can also contain pages of the process's own, and
    smaps does not say which pages are shared. So as many shared pages as possible count as pages of the file.
    """
    each = (map(int, amounts) for amounts in _MAPPING.findall(smaps))
    return sum(max(0, clean + dirty - (resident - own)) for resident, clean, dirty, own in each) << 10


@contextlib.contextmanager
def _stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        deadline_s = time.monotonic() + _STOPS_WITHIN_S
        while not proc.is_stopped(pid):
            if time.monotonic() > deadline_s:
                raise MachineError("A process did not stop, so its memory cannot be read. Grade again.")
            time.sleep(0.0002)
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
