"""The child processes of a worker, which may outlive the test that started them."""

import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

_END_S: Final = 2.0  # the time that child processes get to end after they were killed


def running_children() -> set[psutil.Process]:
    """Return the running child processes, without those that `multiprocessing` keeps until the end on purpose."""
    if not _has_children():
        return set()
    known = {
        getattr(getattr(sys.modules.get(f"multiprocessing.{module}"), f"_{module}", None), attribute, None)
        for module, attribute in (("resource_tracker", "_pid"), ("forkserver", "_forkserver_pid"))
    }
    found = set()
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if child.pid not in known and child.status() != psutil.STATUS_ZOMBIE:
                found.add(child)
    return found


def _has_children() -> bool:
    """Return whether there may be child processes. Linux says it much faster than `psutil`."""
    listed = [*Path("/proc/self/task").glob("*/children")]
    with suppress(OSError):  # a thread has just ended
        return not listed or any(path.read_bytes() for path in listed)
    return True


def kill(children: Collection[psutil.Process]) -> None:
    """Kill child processes, and wait until they have ended."""
    for child in children:
        with suppress(psutil.Error):
            child.kill()
    psutil.wait_procs(children, timeout=_END_S)
