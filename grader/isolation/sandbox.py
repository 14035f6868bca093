"""Start, find and kill one process tree, confined, whose first process inherits one socket.

There are two ways to confine it, and whoever starts a tree need not know which one holds here. With namespaces
bubblewrap lays out what it sees (`namespaces`, `bubblewrap`). In a container, which seldom allows them, Landlock and a
user of its own stand in (`without_namespaces`). What it may ask of the kernel is `seccomp`'s matter, whose it is
`users`'. Without a sandbox (a student's own code on the student's own machine) the same command runs bare.
"""

import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from subprocess import DEVNULL
from typing import Final

from grader.catalogue import KIT
from grader.errors import MachineError
from grader.isolation import bubblewrap, cgroups, host, namespaces, seccomp, usage, without_namespaces
from grader.isolation.layers import Layer
from grader.isolation.obstacles import Obstacle
from grader.isolation.started import Process, popen
from grader.task import Limits

LAYERS: Final = (
    "namespaces, read-only system",
    "system calls denied",
    "no new processes",
    "unprivileged user",
    "limits on each process",
    "limits on the tree by the kernel",
)
"""The names of the layers, from the outside in."""
STANDING_IN: Final = ("files by Landlock", "limit on what is written to disk")
"""Layers that stand in where there are no namespaces."""
FILES_ALONE: Final = 6
"""Before this version, Landlock does not deny signals and abstract sockets. Another user and seccomp do."""


def obstacle() -> Obstacle | None:
    """Why no sandbox can be had on this machine, and what to do next; None when one works."""
    if sys.platform != "linux":
        return Obstacle("the sandbox needs Linux", "grade other people's code there")
    no_namespaces = namespaces.obstacle()
    if no_namespaces is None or (other := without_namespaces.obstacle()) is None:
        return None
    found = f"{no_namespaces.found}; nor does it work without namespaces ({other.found})"
    return Obstacle(found, f"{no_namespaces.fix} Or, without namespaces: {other.fix}")


@cache
def trouble() -> str | None:
    """The same in one sentence."""
    found = obstacle()
    return str(found) if found else None


@cache
def has_namespaces() -> bool:
    """Whether a sandbox has namespaces here, by bubblewrap."""
    return namespaces.obstacle() is None


def summary() -> str:
    """What a sandbox is made by, in a few words."""
    return f"bubblewrap: {namespaces.bwrap()}" if has_namespaces() else "Landlock, and a user for each process tree"


@cache
def layers() -> tuple[Layer, ...]:
    """Each layer of a sandbox on this machine, active or missing with the reason. Without a sandbox none is active."""
    if reason := trouble():
        return tuple(Layer(name, active=False, found="there is no sandbox", fix=reason) for name in LAYERS)
    where, no_filters = cgroups.place(), seccomp.trouble()
    inner = (
        Layer(LAYERS[2], not no_filters, no_filters or "none once a submission is loaded", seccomp.remedy()),
        Layer(LAYERS[4], active=True, found="memory, file size, open files, time of an answer; and watched as a whole"),
        Layer(LAYERS[5], not where.trouble, where.trouble or f"a cgroup in {where.folder}", where.fix),
    )
    outer = _outer() if has_namespaces() else _standing_in()
    known = {layer.name: layer for layer in (*outer, *inner)}
    return tuple(known[name] for name in (*LAYERS, *STANDING_IN) if name in known)


def _outer() -> tuple[Layer, ...]:
    """Layers that bubblewrap makes."""
    way = namespaces.tried(namespaces.bwrap() or "")
    own = "each tree a user of its own" if way.own_user else "yours, who is not root"
    return (
        Layer(LAYERS[0], active=True, found=f"no network, no foreign process or file, by {namespaces.bwrap()}"),
        _layer(LAYERS[1], way.no_filter, "a seccomp filter on the whole tree"),
        _layer(LAYERS[3], way.no_user, own),
    )


def _standing_in() -> tuple[Layer, ...]:
    """Layers of a tree without namespaces. Those that it cannot do without are active: else there is no sandbox."""
    version = host.landlock_version()
    files = f"version {version}" + (", and no signals or sockets either" if version >= FILES_ALONE else "")
    disk = Obstacle(
        "this kernel does not count it for temporary files", "set TMPDIR to a folder on a disk (`export TMPDIR=FOLDER`)"
    )
    return (
        _layer(LAYERS[0], namespaces.obstacle(), ""),
        Layer(
            LAYERS[1], active=True, found="a seccomp filter on the whole tree, without any socket that has an address"
        ),
        Layer(LAYERS[3], active=True, found="each tree a user of its own"),
        Layer(STANDING_IN[0], active=True, found=f"the system's, Python's and a folder of its own ({files})"),
        _layer(STANDING_IN[1], None if without_namespaces.tried().counts_disk else disk, "watched for the whole tree"),
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


def start(
    control: int, *, tensors: bool, sandboxed: bool, hidden: Sequence[Path] = (), folder: Path | None = None
) -> Process:
    """Start a fork server that inherits the socket `control`; standard output and error come through one pipe.

    `hidden` are paths that must not be seen inside even if the system part contains them. In a sandbox the tree has a
    folder of its own to write to, from which nothing comes out; without one it is `folder`.
    """
    program = [sys.executable, "-P", "-s", "-m", "grader.inside.worker", str(control), json.dumps({"tensors": tensors})]
    return launch(program, [control], sandboxed=sandboxed, hidden=hidden, folder=folder)


def launch(
    program: Sequence[str],
    passed: Sequence[int],
    *,
    sandboxed: bool,
    hidden: Sequence[Path] = (),
    stdin: int = DEVNULL,
    folder: Path | None = None,
) -> Process:
    """Start any program so, which inherits the descriptors `passed` and finds the kit's worker files as modules.

    Its variable HOME names the folder that it may write to.
    """
    if not sandboxed:
        home = {"HOME": str(folder)} if folder else {}
        return Process(popen(program, {"PYTHONPATH": str(KIT)} | home, passed, stdin))
    way = namespaces.launch if has_namespaces() else without_namespaces.launch
    return way(program, passed, hidden, stdin)


def rlimits(limits: Limits, *, sandboxed: bool) -> dict[str, int]:
    """Limits for one process. Linux counts processes by user, since 5.14 within a sandbox alone, and never root's."""
    return ({"RLIMIT_NPROC": usage.MOST_TASKS} if sandboxed else {}) | {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_FSIZE": bubblewrap.TMP_BYTES if limits.stores_outside else 0,
        "RLIMIT_NOFILE": 256 if limits.stores_outside else 64,
        "RLIMIT_CORE": 0,
    }
