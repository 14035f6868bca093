"""A user of its own for each process tree, where grading was started as root.

Root's processes stay root's outside of a sandbox, however they are called inside, and Linux limits how many processes a
user has, but never root. So bubblewrap, still as root, lays out the file system, and `setpriv` then becomes a user that
owns nothing and that no other tree has, before Python starts.
"""

import os
import secrets
import shutil
import sys
import threading
from itertools import count
from pathlib import Path
from typing import Final

from grader.isolation.obstacles import Obstacle
from harness import programs

FIRST: Final = 1_879_048_192
"""User ids from here on belong to nobody by convention (systemd: Users, Groups, UIDs and GIDs)."""

NUMBER: Final = 1 << 27

NOT_AS_ROOT: Final = "start grading as a user that is not root"

_next = count(secrets.randbelow(NUMBER))  # other runs on this machine count from elsewhere
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
    ranges = [line.split() for line in uid_map.read_text().splitlines()]
    if not any(int(inner) <= FIRST and int(inner) + int(length) >= FIRST + NUMBER for inner, _, length in ranges):
        return Obstacle("this container has no spare user ids", NOT_AS_ROOT)
    return None


def not_started(said: str) -> Obstacle:
    """Return why Python does not start as another user, and what to do, from the last line that was written."""
    found = f"Python does not start as another user here ({said})"
    if "Permission denied" in said:
        folders = " ".join(dict.fromkeys([sys.base_prefix, sys.prefix]))
        return Obstacle(found, f"let every user read Python (`chmod -R o+rX {folders}`), or {NOT_AS_ROOT}")
    return Obstacle(found, NOT_AS_ROOT)


def fresh() -> int:
    """A user id that no other tree has."""
    with _lock:
        return FIRST + next(_next) % NUMBER


def becoming(uid: int) -> list[str]:
    """The command that becomes this user, without groups or capabilities, and goes on with what follows."""
    never = ["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--no-new-privs"]
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *never, "--"]
