"""Start processes in a sandbox, and report which layers of security this machine offers.

There are two kinds of sandboxes, and callers need not know which one this machine allows: Linux namespaces
(`bubblewrap`), or Landlock and a separate user in containers, which seldom allow namespaces (`without_namespaces`).
Without a sandbox, the same command runs unconfined. This is for a student's own code on the student's own machine.
"""

import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, Final, NamedTuple

from grader.errors import MachineError
from grader.inside import template_main
from grader.isolation import (
    bubblewrap,
    cgroups,
    proc,
    process_tree,
    seccomp,
    tree_users,
    without_namespaces,
)
from grader.isolation.process_tree import ProcessTree
from grader.isolation.sandbox_problems import SandboxProblem
from grader.limits import Limits
from grader.paths import KIT
from harness.processes import process_env

LAYERS: Final = (
    "namespaces, read-only system",
    "system calls denied",
    "no new processes",
    "unprivileged user",
    "limits on each process",
    "limits on the tree by the kernel",
)
"""The names of the security layers, from the outermost to the innermost."""
REPLACEMENT_LAYERS: Final = ("files by Landlock", "limit on what is written to disk")
"""The names of the security layers that replace Linux namespaces where these are not allowed."""
DENIES_SIGNALS_SINCE: Final = 6
"""The first version of Landlock that denies signals and abstract sockets. With older versions, only the separate user
and seccomp deny them."""
NOT_COUNTED: Final = SandboxProblem(
    "this kernel does not count the bytes written to the folder for temporary files",
    "set TMPDIR to a folder on a disk (`export TMPDIR=FOLDER`)",
)

_LAUNCH: Final = (
    "import json, os, sys; from grader.inside import confine; limits, argv, environment = json.loads(sys.argv[1]); "
    "own = {name: os.environ[name] for name in ('HOME', 'TMPDIR') if name in os.environ}; "
    "confine.set_limits(limits); confine.restrict_files(); os.execve(argv[0], argv, environment | own)"
)


class SecurityLayer(NamedTuple):
    """One security layer of a sandbox, such as seccomp. `found` describes it, or why it is missing, and `fix` helps."""

    name: str
    active: bool
    found: str
    fix: str = ""


@cache
def problem() -> SandboxProblem | None:
    """Return why no sandbox works on this machine, with the fix, or None if a sandbox works."""
    if sys.platform != "linux":
        return SandboxProblem("the sandbox needs Linux", "grade other people's code on a Linux machine")
    no_namespaces = bubblewrap.problem()
    if no_namespaces is None or (other := without_namespaces.problem()) is None:
        return None
    found = f"{no_namespaces.found}; the sandbox without namespaces does not work either ({other.found})"
    fix = no_namespaces.fix.removesuffix(".")
    return SandboxProblem(found, f"{fix}. Or use a sandbox without namespaces: {other.fix}")


@cache
def has_namespaces() -> bool:
    """Return whether sandboxes on this machine use namespaces, through bubblewrap."""
    return bubblewrap.problem() is None


def summary() -> str:
    """Return a few words that name the techniques of the sandbox on this machine."""
    return f"bubblewrap: {bubblewrap.bwrap()}" if has_namespaces() else "Landlock, and one user per process tree"


@cache
def layers() -> tuple[SecurityLayer, ...]:
    """Return all security layers of a sandbox on this machine, also missing ones with the reason and the fix."""
    if reason := problem():
        return tuple(SecurityLayer(name, active=False, found="there is no sandbox", fix=str(reason)) for name in LAYERS)
    spaces, where, version = has_namespaces(), cgroups.support(), without_namespaces.landlock_version()
    way = bubblewrap.probe(bubblewrap.bwrap() or "") if spaces else bubblewrap.BwrapProbe(own_user=True)
    no_address = "" if spaces else ", which allows no socket with an address"
    no_signals = ", which also denies signals and sockets" if version >= DENIES_SIGNALS_SINCE else ""
    known: list[tuple[str, SandboxProblem | None, str]] = [
        (LAYERS[0], bubblewrap.problem(), f"no network, no other processes or files, by {bubblewrap.bwrap()}"),
        (LAYERS[1], seccomp.problem(), f"a seccomp filter on the whole tree{no_address}"),
        (LAYERS[2], seccomp.problem(), "none after a submission is loaded"),
        (LAYERS[3], way.no_user, "a separate user for each tree" if way.own_user else "your own, non-root user"),
        (LAYERS[4], None, "memory, file size, open files, answer time; and sums over the tree"),
        (LAYERS[5], where if isinstance(where, SandboxProblem) else None, f"a cgroup in {where}"),
    ]
    if not spaces:
        own = f"only the system's, Python's and the tree's own folder (version {version}{no_signals})"
        uncounted = None if without_namespaces.probe_result().counts_disk else NOT_COUNTED
        known += zip(REPLACEMENT_LAYERS, (None, uncounted), (own, "for the whole tree"), strict=True)
    return tuple(
        SecurityLayer(name, active=not lacks, found=lacks.found if lacks else found, fix=lacks.fix if lacks else "")
        for name, lacks, found in known
    )


def missing_layers() -> tuple[str, ...]:
    """Return the security layers that this machine lacks, as texts for reports."""
    return tuple(f"{layer.name}: {layer.found}" for layer in layers() if not layer.active)


WITHOUT: Final = "(To grade without a sandbox, use --no-sandbox. Each report then states that there was none.)"


def require(instead: str = WITHOUT) -> None:
    """Raise `MachineError` if no sandbox works. Its message gives the fix and ends with the text `instead`."""
    if reason := problem():
        raise MachineError(f"Grading needs a sandbox, and {reason}. {instead}".strip())


def start(
    control: int, *, tensors: bool, sandboxed: bool, hidden: Sequence[Path] = (), folder: Path | None = None
) -> ProcessTree:
    """Start the first process of a sandbox, which forks workers on request. It inherits the socket `control`.

    `hidden` are paths that the process must not see. Without a sandbox, the process writes to `folder`.
    """
    program = _program("worker_main", control, {"tensors": tensors, "folder": str(folder or "")})
    return launch(program, [control], sandboxed=sandboxed, hidden=hidden, folder=folder)


def can_use_template(*, sandboxed: bool) -> bool:
    """Return whether process trees can be forked from a template process: without a sandbox, or with namespaces.

    Without namespaces, the Landlock rules of a tree name the tree's folder. So a template process would need root's
    access to all files until it forks.
    """
    return has_namespaces() if sandboxed else hasattr(os, "fork")


def start_template(control: int, *, sandboxed: bool, hidden: Sequence[Path] = ()) -> ProcessTree:
    """Start a template process, which forks process trees on request. It inherits the socket `control`."""
    own_user = sandboxed and new_tree_user() is not None
    code = seccomp.tree_filter() if sandboxed else None
    kept = [str(one) for one in bubblewrap.prefixes() if any(map(one.is_relative_to, template_main.NEW_FOLDERS))]
    config = {"sandboxed": sandboxed, "new_user": not own_user, "filter": code.hex() if code else "", "kept": kept}
    program = _program("template_main", control, config)
    if sandboxed:
        return bubblewrap.launch(program, [control], hidden, template=True)
    return launch(program, [control], sandboxed=False)


def new_tree_user() -> int | None:
    """Return the user for a new process tree of a template process, or None if trees have no users of their own."""
    return tree_users.new_id() if bubblewrap.probe(bubblewrap.bwrap() or "").own_user else None


def _program(module: str, control: int, config: dict[str, Any]) -> list[str]:
    return [sys.executable, "-P", "-s", "-m", f"grader.inside.{module}", str(control), json.dumps(config)]


def launch(
    program: Sequence[str],
    passed: Sequence[int],
    *,
    sandboxed: bool,
    hidden: Sequence[Path] = (),
    stdin: int = DEVNULL,
    folder: Path | None = None,
) -> ProcessTree:
    """Start a program, in a sandbox if `sandboxed`, that can import the files of `grader/inside`.

    The program inherits the file descriptors `passed`. The environment variable HOME names the folder to which it may
    write.
    """
    if not sandboxed:
        home = {"HOME": str(folder)} if folder else {}
        return process_tree.start(program, {"PYTHONPATH": str(KIT)} | home, passed, stdin=stdin, grouped=False)
    way = bubblewrap.launch if has_namespaces() else without_namespaces.launch
    return way(program, passed, hidden, stdin)


def rlimits(limits: Limits, *, sandboxed: bool) -> dict[str, int]:
    """Return the limits for one process, by their names in the module `resource`.

    Linux counts processes per user, from 5.14 on separately for each user namespace, and never limits those of root.
    A queued signal holds data, so few may be queued.
    """
    return ({"RLIMIT_NPROC": proc.MOST_TASKS, "RLIMIT_SIGPENDING": 1024} if sandboxed else {}) | {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_FSIZE": template_main.TMP_BYTES if limits.stores_outside else 0,
        "RLIMIT_NOFILE": 256 if limits.stores_outside else 64,
        "RLIMIT_CORE": 0,
    }


def run(
    argv: Sequence[str],
    given: bytes,
    limits: Limits,
    timeout_s: float,
    *,
    sandboxed: bool,
    hidden: Sequence[Path] = (),
    file_bytes: int = 0,
    processes: int = 2,
) -> tuple[int | None, bytes]:
    """Run a program once, with `given` as its standard input. Return its exit status and the end of its output.

    It can write at most `file_bytes` to a file, and in a sandbox have `processes` processes, with the sandbox's first
    one. Each process may use `limits.load_s` CPU seconds. The exit status is None if the program was killed at its time
    limit.
    """
    bounds = rlimits(limits, sandboxed=sandboxed) | {"RLIMIT_FSIZE": file_bytes, "RLIMIT_CPU": int(limits.load_s)}
    bounds |= {"RLIMIT_NPROC": processes} if sandboxed else {}
    config = json.dumps([bounds, list(argv), dict(process_env.ENVIRONMENT)])
    with process_tree.stored(given) as stdin:
        launching = [sys.executable, "-P", "-s", "-c", _LAUNCH, config]
        tree = launch(launching, [], sandboxed=sandboxed, hidden=hidden, stdin=stdin.fileno())
    return tree.finish(timeout_s)
