"""A user of its own for each process tree, where grading was started as root.

Root's processes stay root's outside of a sandbox, however they are called inside, and Linux limits how many processes a
user has, but never root. So bubblewrap, still as root, lays out the file system, and `setpriv` then becomes a user that
owns nothing and that no other tree has, before Python starts.
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
from grader.isolation.obstacles import Obstacle
from harness import programs

RANGES: Final = (range(1_879_048_192, 1_879_048_192 + (1 << 27)), range(40_000, 60_000))
"""User ids that belong to nobody by convention (systemd: Users, Groups, UIDs and GIDs).

The second range is for a container that has only 65,536 ids."""

NOT_AS_ROOT: Final = "start grading as a user that is not root"

_ACT: Final = {"setresuid": (117, 147), "setresgid": (119, 149)}
"""Numbers of system calls, on x86_64 and on aarch64."""

_next = count(secrets.randbelow(1 << 30))  # other runs on this machine count from elsewhere
_lock = threading.Lock()


def is_root() -> bool:
    """Whether this process is root's."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def trouble(uid_map: Path = Path("/proc/self/uid_map")) -> Obstacle | None:
    """Why trees cannot get users of their own, with what to do; None when they can, or need none."""
    if not is_root():
        return None
    if shutil.which("setpriv") is None:
        return Obstacle("setpriv is missing", f"install it with `{programs.SETPRIV}`")
    return None if spare(uid_map) else Obstacle("this container has no spare user ids", NOT_AS_ROOT)


def spare(uid_map: Path = Path("/proc/self/uid_map")) -> range | None:
    """Return the user ids that trees may have here; None without any."""
    mapped = [(int(inner), int(length)) for inner, _, length in map(str.split, uid_map.read_text().splitlines())]
    there = (ids for ids in RANGES if any(at <= ids.start and ids.stop <= at + length for at, length in mapped))
    return next(there, None)


def not_started(said: str) -> Obstacle:
    """Return why Python does not start as another user, and what to do, from the last line that was written."""
    found = f"Python does not start as another user here ({said})"
    if "Permission denied" in said:
        folders = " ".join(dict.fromkeys([sys.base_prefix, sys.prefix]))
        return Obstacle(found, f"let every user read Python (`chmod -R o+rX {folders}`), or {NOT_AS_ROOT}")
    return Obstacle(found, NOT_AS_ROOT)


def fresh() -> int:
    """A user id that no other tree has."""
    ids = spare() or RANGES[0]
    with _lock:
        return ids[next(_next) % len(ids)]


def becoming(uid: int) -> list[str]:
    """The command that becomes this user, without groups or capabilities, and goes on with what follows."""
    never = ["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--no-new-privs"]
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *never, "--"]


@contextlib.contextmanager
def acting_as(uid: int) -> Iterator[None]:
    """Give the calling thread the rights of a tree's user for a while, and take it those of root.

    Root without CAP_SYS_PTRACE and CAP_SYS_NICE, as in a container, cannot read what its own user can of a process, nor
    bind it to a core. The system calls are made directly: those of the C library change all threads (setresuid(2)).
    The real and the saved user stay root, so that the tree can send no signal here.
    """
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
