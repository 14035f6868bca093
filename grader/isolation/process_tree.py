"""Start the first command of a sandbox, and end all processes in the sandbox."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from grader.errors import MachineError
from grader.isolation import proc, tree_users
from grader.isolation.cgroups import ControlGroup
from harness.processes import process_env


@dataclass
class ProcessTree:
    """A running sandbox: the started command `popen` and its descendants, the last of which is a Python process.

    With Linux namespaces, bubblewrap reports the process id of its first process on the descriptor `info`. Without
    namespaces, the processes end when the descriptor `lifeline` is closed. Then `owner` is their user, and `sweep` ends
    the processes that remain if their first process was killed.
    """

    popen: subprocess.Popen[bytes]
    info: int | None = None
    group: ControlGroup | None = None
    killed: bool = False
    lifeline: int | None = None
    owner: int | None = None
    sweep: Callable[[], None] = field(default=lambda: None)

    @property
    def lost_by_grader(self) -> bool:
        """Always False, because such a tree depends on no other process of the grader."""
        return False

    @property
    def output(self) -> int:
        """The descriptor from which the grader reads what the processes print."""
        assert self.popen.stdout is not None
        return self.popen.stdout.fileno()

    def pids(self) -> tuple[int, ...]:
        """Return the process ids as seen outside the sandbox, from the started command to the Python process.

        Call this before a submission is loaded: every process that appears later was started by the submission.
        """
        if self.info is not None:
            with os.fdopen(os.dup(self.info), "rb") as file:
                init = int(json.loads(file.read())["child-pid"])
            return self.popen.pid, init, _only_child(init)
        if self.owner is not None:
            return self.popen.pid, _only_child(self.popen.pid)
        return (self.popen.pid,)

    def close_output(self) -> None:
        """Close `output`."""
        assert self.popen.stdout is not None
        self.popen.stdout.close()

    def access(self) -> AbstractContextManager[None]:
        """Return a context manager in which this thread may inspect the processes and bind them to cores.

        Without namespaces, root may need the rights of the processes' own user for this.
        """
        return contextlib.nullcontext() if self.owner is None else tree_users.acting_as(self.owner)

    def kill(self) -> int:
        """End all processes of the sandbox, and return the exit status of the first command."""
        if not self.killed:
            self.killed = True
            if self.owner is None:
                with contextlib.suppress(ProcessLookupError):  # all processes have ended already
                    os.killpg(self.popen.pid, signal.SIGKILL)
        for descriptor in (self.info, self.lifeline):
            if descriptor is not None:
                os.close(descriptor)
        self.info = self.lifeline = None
        ended = self.popen.wait()
        if ended < 0:
            self.sweep()
        if self.group:
            self.group.close()
        return ended


def _only_child(pid: int) -> int:
    children = proc.children(pid)
    if len(children) != 1:
        raise MachineError(f"The sandbox started {len(children)} processes instead of one.")
    return children[0]


def popen(
    argv: Sequence[str],
    environment: Mapping[str, str],
    passed: Sequence[int],
    stdin: int,
    group: ControlGroup | None = None,
) -> subprocess.Popen[bytes]:
    """Start the first command of a sandbox, with a fixed memory layout if the machine allows it."""
    started = process_env.command(argv)
    return subprocess.Popen(
        group.entered(started) if group else started,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**process_env.ENVIRONMENT, **environment},
        cwd="/",
        pass_fds=passed,
        start_new_session=True,
    )
