"""A control group (cgroup v2) for each process tree: limits on memory and processes that hold for all of it together.

There are some only where this process may make them: in a group that was delegated to it, as
`systemd-run --user --scope -p Delegate=yes python -m grader run …` does, or as root in a group of its own.
Linux: Documentation/admin-guide/cgroup-v2.rst.
"""

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

CONTROLLERS: Final = frozenset({"memory", "pids"})
SYSTEMD: Final = Path("/run/systemd/system")
"""There where systemd is the first process (sd_booted(3))."""

MOUNT: Final = Path("/sys/fs/cgroup")
OWN: Final = Path("/proc/self/cgroup")
ENTER: Final = ("/bin/sh", "-c", 'echo 0 > "$0/cgroup.procs" && exec "$@"')
_GONE_S: Final = 2.0

_UNIFIED: Final = (
    "start Linux with `systemd.unified_cgroup_hierarchy=1` (a container needs /sys/fs/cgroup mounted); "
    "until then the grader itself watches each tree"
)

_numbers = count()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Place:
    """Where groups can be made, or the `trouble` why there are none and the `fix` for it."""

    folder: Path | None
    trouble: str = ""
    fix: str = ""


def delegated(*, systemd: Path = SYSTEMD, root: bool | None = None) -> str:
    """Return how to start grading in a group of its own."""
    if root is None:
        root = hasattr(os, "geteuid") and os.geteuid() == 0
    if systemd.exists():
        user = "" if root else "--user "
        return f"start grading with `systemd-run {user}--scope -p Delegate=yes python -m grader run …`"
    return (
        "start grading from a control group of its own that this user may write to and that has the controllers "
        "memory and pids; until then the grader itself watches each tree"
    )


@cache
def place(mount: Path = MOUNT, own: Path = OWN) -> Place:
    """Look whether this process's group is delegated to it. Nothing is changed."""
    try:
        line = next(line for line in own.read_text().splitlines() if line.startswith("0::"))
    except (OSError, StopIteration):
        return Place(None, "this system has no cgroup v2", _UNIFIED)
    folder = mount / line.removeprefix("0::").lstrip("/")
    try:
        offered = set((folder / "cgroup.controllers").read_text().split())
        enabled = set((folder / "cgroup.subtree_control").read_text().split())
        inside = {int(pid) for pid in (folder / "cgroup.procs").read_text().split()}
    except OSError:
        return Place(None, "this system's control groups are of version 1, or not to be seen", _UNIFIED)
    if missing := CONTROLLERS - offered:
        named = " and ".join(sorted(missing))
        return Place(None, f"the controllers {named} are not delegated to this process", delegated())
    needed = [folder, folder / "cgroup.procs", folder / "cgroup.subtree_control"]
    if not all(os.access(path, os.W_OK) for path in needed):
        return Place(None, "the control group of this process belongs to another user", delegated())
    if not enabled >= CONTROLLERS and (inside - {os.getpid()} or not (folder / "cgroup.type").exists()):
        return Place(None, "other programs run in the control group of this process", delegated())
    return Place(folder)


class Group:
    """One tree's group. Limits may be set at any time; closing it ends whatever still runs in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._at_first_bytes: int | None = None

    def entered(self, argv: Sequence[str]) -> list[str]:
        """The command that enters the group, with all that it will start, and goes on with `argv`."""
        return [*ENTER, str(self.folder), *argv]

    def limit(self, *, memory_bytes: int, tasks: int) -> None:
        """Bound what the tree may use beyond what it used at first, without swap, and its processes and threads."""
        if self._at_first_bytes is None:
            self._at_first_bytes = int((self.folder / "memory.current").read_text())
        (self.folder / "memory.max").write_text(str(self._at_first_bytes + memory_bytes))
        with contextlib.suppress(OSError):  # a kernel without swap accounting
            (self.folder / "memory.swap.max").write_text("0")
        (self.folder / "pids.max").write_text(str(tasks))

    def close(self) -> None:
        """Kill what is left and remove the group; one that will not empty stays behind, empty of limits."""
        # Before Linux 5.14 there is none, and the tree is killed otherwise.
        with contextlib.suppress(OSError), os.fdopen(os.open(self.folder / "cgroup.kill", os.O_WRONLY), "w") as file:
            file.write("1")
        until_s = time.monotonic() + _GONE_S
        while time.monotonic() < until_s:
            try:
                self.folder.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.005)
            else:
                return


def make(where: Place) -> Group | None:
    """A new group; None where there is no place for one. Raises OSError when a delegated place refuses."""
    if where.folder is None:
        return None
    with _lock:
        _prepare(where.folder)
        folder = where.folder / f"tree-{os.getpid()}-{next(_numbers)}"
        folder.mkdir()
    return Group(folder)


def _prepare(folder: Path) -> None:
    """Let the place's groups have limits. Whoever is in it goes one down first: no group has both (cgroup-v2)."""
    control = folder / "cgroup.subtree_control"
    if set(control.read_text().split()) >= CONTROLLERS:
        return
    supervisor = folder / "supervisor"
    supervisor.mkdir(exist_ok=True)
    (supervisor / "cgroup.procs").write_text(str(os.getpid()))
    control.write_text(" ".join(f"+{name}" for name in sorted(CONTROLLERS)))
