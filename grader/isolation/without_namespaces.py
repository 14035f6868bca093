"""Run a program in a sandbox without Linux namespaces, which most containers do not allow.

Landlock allows the program only the system's files, Python's files and a folder of its own. It runs as a separate user,
who can neither signal nor inspect other processes. A seccomp filter denies sockets with an address, and kernel objects
that processes share. At the end, `tree_init` ends all processes of this user and removes the folder. `inside/probe.py`
runs once in such a sandbox and checks these restrictions.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from subprocess import DEVNULL
from typing import Final

from grader.isolation import (
    bubblewrap,
    landlock,
    machine_facts,
    process_tree,
    sandbox_problems,
    seccomp,
    tree_users,
)
from grader.isolation.process_tree import ProcessTree
from grader.isolation.sandbox_problems import SandboxProblem
from grader.isolation.tree_init import Tree
from grader.paths import GRADER, KIT
from harness.processes import process_env

_PROBE_S: Final = 60.0
PRIVATE_FILE: Final = "/etc/passwd"
"""A file that every user may read. The sandbox is tested by trying to read it."""
_INIT: Final = ("-S", "-s", "-P", "-m", "grader.isolation.tree_init")


@dataclass(frozen=True, slots=True)
class ConfinementProbe:
    """The result of testing the sandbox. `problem` is the reason if it does not work on this machine.

    `counts_disk` is True if the kernel counts the bytes that its processes write.
    """

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
    if no_user := tree_users.trouble():
        return no_user
    if no_filter := seccomp.problem():
        return no_filter
    if (version := machine_facts.landlock_version()) <= 0:
        return sandbox_problems.no_landlock(-version)
    if closed := next(_closed(), None):
        return SandboxProblem(f"other users may not enter {closed}", f"`chmod o+x {closed}`")
    return probe_result().problem


@cache
def probe_result() -> ConfinementProbe:
    """Test the sandbox: run `inside/probe.py`, which tries all forbidden actions, in it. Return the result."""
    uid = tree_users.new_id()
    probe = (GRADER / "inside" / "probe.py").read_text(encoding="utf-8")
    about = [str(uid), str(os.getpid()), PRIVATE_FILE, str(_place())]
    tree = launch([sys.executable, "-P", "-s", "-c", probe, *about], [], (), DEVNULL, uid)
    status, printed = tree.finish(_PROBE_S)
    if status is None:
        return ConfinementProbe(_not_started(f"it did not end within {_PROBE_S:g} s"))
    said = (printed.decode(errors="replace").splitlines() or ["it printed nothing"])[-1]
    try:
        found = json.loads(said)
        lacking, counted = ", ".join(found["lacking"]), bool(found["counted"])
    except (ValueError, KeyError, TypeError):
        return ConfinementProbe(_not_started(said[:200]))
    fault = SandboxProblem(f"a restriction fails here ({lacking})", "grade on another machine") if lacking else None
    return ConfinementProbe(fault, counted)


def _not_started(said: str) -> SandboxProblem:
    readable = " ".join(map(str, bubblewrap.prefixes()))
    fix = (
        f"let every user read Python: `chmod -R o+rX {readable}`" if "ermission" in said else "grade on another machine"
    )
    return SandboxProblem(f"Python does not start as another user here ({said})", fix)


def launch(
    program: Sequence[str], passed: Sequence[int], hidden: Sequence[Path], stdin: int, uid: int | None = None
) -> ProcessTree:
    """Start a program as a new user, or as the user `uid`, confined by Landlock and seccomp."""
    uid = uid or tree_users.new_id()
    about = _tree(uid, program, passed, hidden)
    read, write = os.pipe()
    try:
        argv = [sys.executable, *_INIT, str(read)]
        tree = process_tree.start(argv, {"PYTHONPATH": str(KIT)}, [*passed, read], stdin=stdin)
    except BaseException:
        os.close(write)
        raise
    finally:
        os.close(read)
    _tell(write, about)
    tree.lifeline, tree.owner, tree.sweep = write, uid, lambda: _sweep(about)
    return tree


def _tree(uid: int, program: Sequence[str], passed: Sequence[int], hidden: Sequence[Path]) -> Tree:
    folder = _place() / f"fairclock-tree-{uid}"
    own, kit = folder / "tmp", folder / "kit"
    readable = [*map(Path, (*bubblewrap.SYSTEM, *bubblewrap.SYSTEM_FILES)), *bubblewrap.prefixes(), kit]
    rules = landlock.tree_rules(readable, [*(KIT / name for name in bubblewrap.HIDDEN_FOLDERS), *hidden], own)
    version = machine_facts.landlock_version()
    code = seccomp.tree_filter(alone=True)
    return Tree(
        uid=uid,
        folder=str(folder),
        own=str(own),
        kit=str(kit),
        files={name: str(KIT / name) for name in bubblewrap.KIT_FILES},
        ruleset=landlock.ruleset(rules, version),
        narrowed=landlock.ruleset(landlock.narrowed(rules), version),
        filter=code.hex() if code else "",
        program=[*tree_users.become_command(uid), *program],
        environment={**process_env.ENVIRONMENT, "PYTHONPATH": str(kit), "HOME": str(own), "TMPDIR": str(own)},
        passed=list(passed),
    )


def _tell(descriptor: int, tree: Tree) -> None:
    with suppress(BrokenPipeError), os.fdopen(os.dup(descriptor), "w") as pipe:
        pipe.write(json.dumps(asdict(tree)) + "\n")  # if the process did not start, the caller will see it


def _sweep(tree: Tree) -> None:
    read, write = os.pipe()
    with os.fdopen(read, "rb"), os.fdopen(write, "wb", buffering=0):
        ending = subprocess.Popen(
            [sys.executable, *_INIT, str(read)],
            env={**process_env.ENVIRONMENT, "PYTHONPATH": str(KIT)},
            cwd="/",
            pass_fds=[read],
        )
        _tell(write, replace(tree, program=[]))
        ending.wait()


def _place() -> Path:
    # A disk if possible, because the kernel does not count the bytes written to a file system in memory.
    usual, other = Path(tempfile.gettempdir()).resolve(), Path("/var/tmp")  # noqa: S108
    on_a_disk = (one for one in (usual, other) if os.access(one, os.W_OK) and not machine_facts.lies_in_memory(one))
    return next(on_a_disk, usual)


def _closed() -> Iterator[Path]:
    for wanted in [*bubblewrap.prefixes(), _place()]:
        for folder in reversed([wanted.resolve(), *wanted.resolve().parents]):
            if not folder.stat().st_mode & 0o001:
                yield folder
