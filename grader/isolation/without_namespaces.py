"""Run a program in a sandbox without Linux namespaces, which most containers do not allow.

Landlock allows the program only the system's files, Python's files and a folder of its own. It denies each kind of
access to files, unless a rule allows it. A rule is for a file, or for a folder with all of its contents. The rules of
`tree_rules` are applied before Python starts, and the rules of `narrowed` before a submission is loaded. Landlock does
not hide that a file exists, or its size and dates, from a process that knows its path. Source:
Documentation/userspace-api/landlock.rst of Linux.

The program runs as a separate user, who can neither signal nor inspect other processes. A seccomp filter denies sockets
with an address, and kernel objects that processes share. At the end, `tree_init` ends all processes of this user and
removes the folder. `inside/probe.py` runs once in such a sandbox and checks these restrictions.
"""

import ctypes
import errno
import json
import os
import secrets
import struct
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from enum import IntFlag
from functools import cache
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, Final, NamedTuple

from grader.isolation import bubblewrap, process_tree, sandbox_problems, seccomp, tree_users
from grader.isolation.process_tree import ProcessTree
from grader.isolation.sandbox_problems import SandboxProblem
from grader.isolation.tree_init import Tree
from grader.paths import GRADER, KIT
from harness.processes import process_env

_SWEEP_S: Final = 60.0
_ELSEWHERE: Final = "grade on another machine"
PRIVATE_FILE: Final = "/etc/passwd"
"""A file that every user may read. The sandbox is tested by trying to read it."""
Access = IntFlag(
    "Access",
    "EXECUTE WRITE_FILE READ_FILE READ_DIR REMOVE_DIR REMOVE_FILE MAKE_CHAR MAKE_DIR MAKE_REG MAKE_SOCK MAKE_FIFO "
    "MAKE_BLOCK MAKE_SYM REFER TRUNCATE IOCTL_DEV",
)
"""The kinds of access to files (linux/landlock.h: LANDLOCK_ACCESS_FS_…)."""
READ: Final = Access.EXECUTE | Access.READ_FILE | Access.READ_DIR
DEVICE: Final = Access.READ_FILE | Access.WRITE_FILE | Access.TRUNCATE
OWN: Final = Access(sum(Access)) & ~(Access.MAKE_CHAR | Access.MAKE_BLOCK | Access.MAKE_SOCK | Access.IOCTL_DEV)
"""The kinds of access that a sandboxed process has in its own folder."""
OF_FILES: Final = Access.EXECUTE | Access.WRITE_FILE | Access.READ_FILE | Access.TRUNCATE | Access.IOCTL_DEV
"""The kinds of access that apply to files, and not only to folders."""

ADDED_BY_VERSION: Final = ((5, 1 << 15), (3, 1 << 14), (2, 1 << 13))
"""Pairs (version of Landlock, the first kind of access that this version added)."""
TCP: Final = 0b11
"""The bits that deny TCP connections and servers on all ports. Landlock has them from version 4 on."""
SCOPES: Final = 0b11
"""The bits that deny abstract Unix sockets and signals to processes outside of the sandbox (from version 6 on)."""

DEVICES: Final = ("null", "full", "random", "urandom")
ABOUT_THE_MACHINE: Final = ("cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "sys/vm/overcommit_memory")
"""Files of /proc that contain nothing about other processes."""

NO_LANDLOCK: Final = {
    errno.EPERM: SandboxProblem(
        "this container forbids Landlock", "update Docker, Podman or containerd: they allow it since 2022"
    ),
    errno.EOPNOTSUPP: SandboxProblem(
        "Landlock is switched off", "add `landlock` to the kernel option lsm= of the host"
    ),
    errno.ENOSYS: SandboxProblem(
        "this kernel has no Landlock", "use a host with Linux 5.13 or newer and CONFIG_SECURITY_LANDLOCK=y"
    ),
}
"""Why Landlock cannot be used, by the error number of landlock_create_ruleset(2)."""

Rules = dict[Path, Access]
"""The allowed kinds of access, for each file, or for each folder with all of its contents."""
Ruleset = dict[str, Any]
"""A set of Landlock rules as plain data, to be sent to another process as JSON."""

_CREATE_RULESET, _VERSION = 444, 1
_INIT: Final = ("-S", "-s", "-P", "-m", "grader.isolation.tree_init")


class ConfinementProbe(NamedTuple):
    """Why this sandbox does not work here, or None, and whether the kernel counts the bytes that it writes to disk."""

    problem: SandboxProblem | None
    counts_disk: bool = False


def problem() -> SandboxProblem | None:
    """Return why this sandbox does not work on this machine, with the fix, or None if it works."""
    if not tree_users.is_root():
        return SandboxProblem(
            "grading does not run as root here", "grade as root in the container (`docker run --user 0 …`)"
        )
    if not tree_users.spare_ids():
        return SandboxProblem("this container has too few user ids", "give it 65,536 (in /etc/subuid and /etc/subgid)")
    if lacking := tree_users.trouble() or seccomp.problem():
        return lacking
    if (version := landlock_version()) <= 0:
        return NO_LANDLOCK.get(-version, NO_LANDLOCK[errno.ENOSYS])
    if closed := next(_closed(), None):
        return SandboxProblem(f"other users may not enter {closed}", f"`chmod o+x {closed}`")
    return probe_result().problem


@cache
def landlock_version() -> int:
    """Return the version of Landlock that this process may use, or a negative error number."""
    libc = ctypes.CDLL(None, use_errno=True)
    version: int = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    return version if version >= 0 else -ctypes.get_errno()


@cache
def probe_result() -> ConfinementProbe:
    """Test the sandbox: run `inside/probe.py`, which tries all forbidden actions, in it. Return the result."""
    uid = tree_users.new_id()
    probe = (GRADER / "inside" / "probe.py").read_text(encoding="utf-8")
    about = [str(uid), str(os.getpid()), PRIVATE_FILE, str(_place())]
    works, said = launch([sys.executable, "-P", "-s", "-c", probe, *about], [], (), DEVNULL, uid).tested()
    try:
        found = json.loads(said) if works else None
    except ValueError:  # another program has printed the last line
        found = None
    if not found:
        return ConfinementProbe(tree_users.not_started(said, _ELSEWHERE))
    lacking = ", ".join(found["lacking"])
    fault = SandboxProblem(f"a restriction fails here ({lacking})", _ELSEWHERE) if lacking else None
    return ConfinementProbe(fault, found["counted"])


def launch(
    program: Sequence[str], passed: Sequence[int], hidden: Sequence[Path], stdin: int, uid: int | None = None
) -> ProcessTree:
    """Start a program as a new user, or as the user `uid`, confined by Landlock and seccomp."""
    uid = uid or tree_users.new_id()
    about = _tree(uid, program, passed, hidden)
    tree = _started(about, stdin)
    tree.folder = Path(about.own)
    tree.owner, tree.sweep = uid, lambda: _started(replace(about, program=[], passed=[]), DEVNULL).finish(_SWEEP_S)
    return tree


def _started(about: Tree, stdin: int) -> ProcessTree:
    reading, writing = os.pipe()
    lifeline = os.fdopen(writing, "wb")
    with os.fdopen(reading, "rb"), process_tree.stored(json.dumps(asdict(about)).encode()) as description:
        given = [reading, description.fileno()]
        argv = [sys.executable, *_INIT, *map(str, given)]
        tree = process_tree.start(argv, {"PYTHONPATH": str(KIT)}, [*about.passed, *given], stdin=stdin)
    tree.lifeline = lifeline
    return tree


def _tree(uid: int, program: Sequence[str], passed: Sequence[int], hidden: Sequence[Path]) -> Tree:
    folder = _place() / f"fairclock-tree-{uid}-{secrets.token_hex(16)}"  # a path that no other tree or user can guess
    own, kit = folder / "tmp", folder / "kit"
    readable = [*map(Path, (*bubblewrap.SYSTEM, *bubblewrap.SYSTEM_FILES)), *bubblewrap.prefixes(), kit]
    rules = tree_rules(readable, [*bubblewrap.private_folders(), *hidden], own)
    version = landlock_version()
    code = seccomp.tree_filter(alone=True)
    return Tree(
        uid=uid,
        folder=str(folder),
        own=str(own),
        kit=str(kit),
        files={name: str(KIT / name) for name in bubblewrap.KIT_FILES},
        ruleset=ruleset(rules, version),
        narrowed=ruleset(narrowed(rules), version),
        filter=code.hex() if code else "",
        program=[*tree_users.become_command(uid), *program],
        environment={**process_env.ENVIRONMENT, "PYTHONPATH": str(kit), "HOME": str(own), "TMPDIR": str(own)},
        passed=list(passed),
    )


def _place() -> Path:
    # A disk if possible, because the kernel does not count the bytes written to a file system in memory.
    usual, other = Path(tempfile.gettempdir()).resolve(), Path("/var/tmp")  # noqa: S108
    on_a_disk = (one for one in (usual, other) if os.access(one, os.W_OK) and not sandbox_problems.lies_in_memory(one))
    return next(on_a_disk, usual)


def _closed() -> Iterator[Path]:
    for wanted in [*bubblewrap.prefixes(), _place()]:
        for folder in reversed([wanted.resolve(), *wanted.resolve().parents]):
            if not folder.stat().st_mode & 0o001:
                yield folder


def ruleset(rules: Rules, version: int) -> Ruleset:
    """Return the Landlock rules that allow only the access in `rules`, as JSON data for one version of Landlock.

    Kinds of access that this version does not know stay allowed.
    """
    known = sum(Access)
    for since, first in ADDED_BY_VERSION:
        known = known & (first - 1) if version < since else known
    attributes = struct.pack("=Q", known)
    attributes += struct.pack("=Q", TCP) if version >= 4 else b""
    attributes += struct.pack("=Q", SCOPES) if version >= 6 else b""
    return {
        "attributes": attributes.hex(),
        "of_files": int(OF_FILES),
        "rules": [[str(path), int(access) & known] for path, access in rules.items()],
    }


def tree_rules(readable: Sequence[Path], hidden: Sequence[Path], own: Path) -> Rules:
    """Return the rules for a sandbox. They allow readable paths, devices, /proc, and the sandbox's own folder.

    The `hidden` paths inside readable paths are not allowed.
    """
    hidden = [one.resolve() for one in hidden]
    rules = dict(rule for path in readable for rule in rules_around(path.resolve(), hidden))
    return rules | {Path("/dev", name): DEVICE for name in DEVICES} | {own: OWN, Path("/proc"): READ}


def narrowed(rules: Rules) -> Rules:
    """Return `rules` with access to only a few files of /proc, instead of all of them."""
    kept = {path: access for path, access in rules.items() if path != Path("/proc")}
    return kept | {Path("/proc", name): Access.READ_FILE for name in ABOUT_THE_MACHINE} | {Path("/proc/self"): READ}


def rules_around(path: Path, hidden: Sequence[Path]) -> Iterator[tuple[Path, Access]]:
    """Yield rules that allow reading a folder or file, except for the hidden paths in it.

    A rule applies to all contents of a folder. So a folder with a hidden path gets one rule per entry. The names in
    this folder stay visible, because Python imports no module from a folder that it cannot list.
    """
    within = [one for one in hidden if one.is_relative_to(path)]
    if path in within:
        return
    yield path, Access.READ_DIR if within else READ
    for entry in sorted(path.iterdir()) if within else ():
        if not entry.is_symlink():
            yield from rules_around(entry, within)
