"""A running process tree, and how its first command is started."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from grader.errors import MachineError
from grader.isolation import proc, users
from grader.isolation.cgroups import Group
from harness import twins


@dataclass
class Process:
    """A running process tree: the started command, and from the outside in what it became.

    With namespaces, `info` is the descriptor on which bubblewrap names its init. Without them, the tree ends when the
    descriptor `lifeline` is closed, `owner` is its user, and `sweep` ends what is left when `tree_init` was killed.
    """

    popen: subprocess.Popen[bytes]
    info: int | None = None
    group: Group | None = None
    killed: bool = False
    lifeline: int | None = None
    owner: int | None = None
    sweep: Callable[[], None] = field(default=lambda: None)

    def chain(self) -> tuple[int, ...]:
        """PIDs, as seen here, from the started command to the Python process (between them bubblewrap's init).

        Ask once, and before a submission is loaded: from then on any other process inside is a helper.
        """
        if self.info is not None:
            with os.fdopen(os.dup(self.info), "rb") as file:
                init = int(json.loads(file.read())["child-pid"])
            return self.popen.pid, init, _only_child(init)
        if self.owner is not None:
            return self.popen.pid, _only_child(self.popen.pid)
        return (self.popen.pid,)

    def looked_into(self) -> AbstractContextManager[None]:
        """Let this thread look into the tree's processes, and bind them to cores, as it may not without namespaces."""
        return contextlib.nullcontext() if self.owner is None else users.acting_as(self.owner)

    def kill(self) -> int:
        """End the whole tree now, and what an ended command has left of it; the exit status of the command."""
        if not self.killed:
            self.killed = True
            if self.owner is None:
                with contextlib.suppress(ProcessLookupError):  # nothing was left
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
    group: Group | None = None,
) -> subprocess.Popen[bytes]:
    """Start the first command of a tree, with a fixed memory layout where that can be had."""
    started = twins.command(argv)
    return subprocess.Popen(
        group.entered(started) if group else started,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**twins.ENVIRONMENT, **environment},
        cwd="/",
        pass_fds=passed,
        start_new_session=True,
    )
