"""Give each sandbox a user of its own if root started the grader.

In a user namespace that root starts, processes still count as processes of root, whose number Linux never limits. So
root runs bubblewrap. Before Python starts, `setpriv` becomes a user that owns nothing and that no other sandbox has.
"""

import contextlib
import ctypes
import os
import platform
import secrets
import shutil
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

from grader.errors import GraderFault
from grader.isolation.sandbox_problems import SandboxProblem
from harness.machine import programs

RANGES: Final = (range(1_879_048_192, 1_879_048_192 + (1 << 27)), range(40_000, 60_000))
"""User ids that by convention belong to no user (systemd: Users, Groups, UIDs and GIDs).

The second range is for containers with only 65,536 ids.
"""

NOT_AS_ROOT: Final = "start grading as a user other than root"

_ACT: Final = {"setresuid": (117, 147), "setresgid": (119, 149)}

_next = count(secrets.randbelow(1 << 30))  # random, so that other runs on this machine use other numbers
_lock = threading.Lock()


def is_root() -> bool:
    """Return whether this process runs as root."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def trouble(uid_map: Path = Path("/proc/self/uid_map")) -> SandboxProblem | None:
    """Return why sandboxes of root cannot have users of their own, with the fix, or None if they can.

    Return None also if this process does not run as root.
    """
    if not is_root():
        return None
    if shutil.which("setpriv") is None:
        return SandboxProblem("setpriv is missing", f"install it with `{programs.SETPRIV}`")
    return None if spare_ids(uid_map) else SandboxProblem("this container has no spare user ids", NOT_AS_ROOT)


def spare_ids(uid_map: Path = Path("/proc/self/uid_map")) -> range | None:
    """Return the user ids that sandboxes may have on this machine, or None if there are none."""
    mapped = [(int(inner), int(length)) for inner, _, length in map(str.split, uid_map.read_text().splitlines())]
    there = (ids for ids in RANGES if any(at <= ids.start and ids.stop <= at + length for at, length in mapped))
    return next(there, None)


def not_started(said: str, otherwise: str) -> SandboxProblem:
    """Return the problem that Python does not start as another user. `said` is the last line of its output."""
    found = f"Python does not start as another user here ({said})"
    if "ermission" not in said:
        return SandboxProblem(found, otherwise)
    folders = " ".join(dict.fromkeys([sys.base_prefix, sys.prefix]))
    return SandboxProblem(found, f"let every user read Python (`chmod -R o+rX {folders}`), or {otherwise}")


def new_id() -> int:
    """Return a user id that no other sandbox has."""
    ids = spare_ids() or RANGES[0]
    with _lock:
        return ids[next(_next) % len(ids)]


def become_command(uid: int) -> list[str]:
    """Return a command that runs another command, appended by the caller, as user `uid` without groups and rights."""
    never = ["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--no-new-privs"]
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *never, "--"]


@contextlib.contextmanager
def acting_as(uid: int | None) -> Iterator[None]:
    """Give the calling thread the rights of user `uid`, unless it is None, in place of root's in the `with` block.

    In a container, root may not be allowed to inspect another user's processes or to bind them to a core, but this user
    is. The system calls are made directly, because the functions of the C library change all threads (setresuid(2)).
    The real and the saved user stay root, so that the user's processes cannot send signals to this process.
    """
    if uid is None:
        yield
        return
    try:
        _act("setresgid", uid)
        _act("setresuid", uid)
        yield
    finally:
        _act("setresuid", 0)
        _act("setresgid", 0)


def _act(call: str, effective: int) -> None:
    unchanged, number = ctypes.c_long(-1), _ACT[call][platform.machine() == "aarch64"]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, unchanged, ctypes.c_long(effective), unchanged):
        raise GraderFault(f"The grader cannot act as user {effective}: {os.strerror(ctypes.get_errno())}.")
