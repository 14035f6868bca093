"""Create a Linux control group (cgroup v2) for each sandbox, which limits its memory and its number of processes.

This works only if this process may create control groups: as root in its own group, or in a group that was delegated to
it. `systemd-run --user --scope -p Delegate=yes python -m grader run …` delegates one. Source:
Documentation/admin-guide/cgroup-v2.rst of Linux.
"""

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

from grader.isolation.sandbox_problems import SandboxProblem

CONTROLLERS: Final = frozenset({"memory", "pids"})
SYSTEMD: Final = Path("/run/systemd/system")
"""This folder exists if systemd manages the machine (sd_booted(3))."""

MOUNT: Final = Path("/sys/fs/cgroup")
OWN: Final = Path("/proc/self/cgroup")
ENTER: Final = ("/bin/sh", "-c", 'echo 0 > "$0/cgroup.procs" && exec "$@"')
_GONE_S: Final = 2.0

_UNIFIED: Final = (
    "start Linux with `systemd.unified_cgroup_hierarchy=1` (a container needs /sys/fs/cgroup mounted); "
    "until then the grader itself checks the memory and the processes of each process tree"
)
_DELEGATED: Final = (
    "start grading in its own control group, which this user may write to and which has the controllers memory and "
    "pids; until then the grader itself checks the memory and the processes of each tree"
)

_numbers = count()
_lock = threading.Lock()


@cache
def support(mount: Path = MOUNT, own: Path = OWN) -> Path | SandboxProblem:
    """Return the folder in which this process may create control groups, or the reason why it may not, with advice."""
    try:
        line = next(line for line in own.read_text().splitlines() if line.startswith("0::"))
        folder = mount / line.removeprefix("0::").lstrip("/")
        offered = set((folder / "cgroup.controllers").read_text().split())
        enabled = set((folder / "cgroup.subtree_control").read_text().split())
        inside = {int(pid) for pid in (folder / "cgroup.procs").read_text().split()}
    except (OSError, StopIteration):
        return SandboxProblem("this system's control groups are not of version 2, or not visible", _UNIFIED)
    may_write = all(os.access(folder / name, os.W_OK) for name in (".", "cgroup.procs", "cgroup.subtree_control"))
    is_alone = not inside - {os.getpid()} and (folder / "cgroup.type").exists()
    if offered >= CONTROLLERS and may_write and (enabled >= CONTROLLERS or is_alone):
        return folder
    found = "this process has no control group of its own with the controllers memory and pids"
    user = "" if os.geteuid() == 0 else "--user "
    command = f"start grading with `systemd-run {user}--scope -p Delegate=yes python -m grader run …`"
    return SandboxProblem(found, command if SYSTEMD.exists() else _DELEGATED)


class ControlGroup:
    """A Linux control group for all processes of one sandbox. Its limits can be changed at any time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._at_first_bytes: int | None = None

    def entered(self, argv: Sequence[str]) -> list[str]:
        """Return a command that runs `argv` inside this group, together with all processes that `argv` starts."""
        return [*ENTER, str(self.folder), *argv]

    def add(self, pid: int) -> None:
        """Move a process to this group. Its present children stay where they are, and its later children follow it."""
        (self.folder / "cgroup.procs").write_text(str(pid))

    def limit(self, *, memory_bytes: int, tasks: int) -> None:
        """Limit the memory that the group may use beyond its present use, and its number of processes and threads."""
        if self._at_first_bytes is None:
            self._at_first_bytes = int((self.folder / "memory.current").read_text())
        (self.folder / "memory.max").write_text(str(self._at_first_bytes + memory_bytes))
        with contextlib.suppress(OSError):  # a kernel without swap accounting
            (self.folder / "memory.swap.max").write_text("0")
        (self.folder / "pids.max").write_text(str(tasks))

    def close(self) -> None:
        """Kill the group's processes and remove the group. If processes remain after two seconds, it is not removed."""
        # Linux before 5.14 has no cgroup.kill, but `ProcessTree.kill` has killed the tree before.
        with contextlib.suppress(OSError), os.fdopen(os.open(self.folder / "cgroup.kill", os.O_WRONLY), "w") as file:
            file.write("1")
        until_s = time.monotonic() + _GONE_S
        while self.folder.exists() and time.monotonic() < until_s:
            try:
                self.folder.rmdir()
            except OSError:
                time.sleep(0.005)


def create(where: Path | SandboxProblem) -> ControlGroup | None:
    """Return a new control group in the folder `where`, or None without a folder. Raise `OSError` if it fails."""
    if isinstance(where, SandboxProblem):
        return None
    with _lock:
        control = where / "cgroup.subtree_control"
        if not set(control.read_text().split()) >= CONTROLLERS:
            (where / "supervisor").mkdir(exist_ok=True)
            (where / "supervisor" / "cgroup.procs").write_text(str(os.getpid()))
            control.write_text(" ".join(f"+{name}" for name in sorted(CONTROLLERS)))
        folder = where / f"tree-{os.getpid()}-{next(_numbers)}"
        folder.mkdir()
    return ControlGroup(folder)
