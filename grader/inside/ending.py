"""Wait for the end of workers, and end a process tree whose grader has ended, even if it was killed.

This file runs in the sandbox and imports only the standard library.
"""

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Iterable
from typing import NoReturn

PREFIX = "fairclock-"
"""The beginning of the name of a folder that a process tree may write to, and remove."""

END_TIMEOUT_S = 2.0  # the time in which a worker process must end by itself after it has closed its channel


def wait_for_end(pid: int) -> int | None:
    """Return a process's exit status (negative for a signal), or None if it does not end within `END_TIMEOUT_S`."""
    deadline_s = time.monotonic() + END_TIMEOUT_S
    while time.monotonic() < deadline_s:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


def end_tree(workers: Iterable[int], folder: str) -> NoReturn:
    """End this process, after its `workers` and the `folder` to which they may write, unless it is ""."""
    for pid in workers:
        with contextlib.suppress(ChildProcessError):  # the worker has ended, and its number may belong to another
            if not os.waitpid(pid, os.WNOHANG)[0]:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
    if os.path.basename(folder).startswith(PREFIX):  # noqa: PTH119 - and never a person's own folder
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)
