"""Run a program in a sandbox without Linux namespaces, which most containers do not allow.

Landlock allows the program only the system's files, Python's files and a folder of its own. It runs as a separate user,
who can neither signal nor inspect other processes. A seccomp filter denies sockets with an address, and kernel objects
that processes share. At the end, `tree_init` ends all processes of this user and removes the folder. `inside/probe.py`
runs once in such a sandbox and checks these restrictions.
"""

import errno
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from subprocess import DEVNULL
from typing import Final

from grader.isolation import bubblewrap, landlock, machine_facts, process_tree, seccomp, tree_users
from grader.isolation.process_tree import ProcessTree
from grader.isolation.sandbox_problems import NO_LANDLOCK, SandboxProblem
from grader.isolation.tree_init import Tree
from grader.paths import GRADER, KIT
from harness.processes import process_env

_SWEEP_S: Final = 60.0
_ELSEWHERE: Final = "grade on another machine"
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
        return NO_LANDLOCK.get(-version, NO_LANDLOCK[errno.ENOSYS])
    if closed := next(_closed(), None):
        return SandboxProblem(f"other users may not enter {closed}", f"`chmod o+x {closed}`")
    return probe_result().problem


@cache
def probe_result() -> ConfinementProbe:
    """Test the sandbox: run `inside/probe.py`, which tries all forbidden actions, in it. Return the result."""
    uid = tree_users.new_id()
    probe = (GRADER / "inside" / "probe.py").read_text(encoding="utf-8")
    about = [str(uid), str(os.getpid()), PRIVATE_FILE, str(_place())]
    works, said = launch([sys.executable, "-P", "-s", "-c", probe, *about], [], (), DEVNULL, uid).tested()
    if not works:
        return ConfinementProbe(tree_users.not_started(said, _ELSEWHERE))
    found = json.loads(said)
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
