"""A process tree where no namespaces can be had, as in an ordinary container: other layers keep the same promises.

Landlock leaves a tree the system's files, Python's and its own folder. Root becomes a user that no other tree has, and
that can neither signal other processes nor look into them. A seccomp filter denies all sockets with an address, and
what the kernel shares among all processes. The tree's first process (`tree_init`) ends all processes of that user and
removes the folder. Whether all of this holds here is tried once, by `inside/probe.py` in a tree.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from subprocess import DEVNULL
from typing import Final

from grader.catalogue import GRADER, KIT
from grader.isolation import bubblewrap, cgroups, host, landlock, obstacles, seccomp, users
from grader.isolation.obstacles import Obstacle
from grader.isolation.started import Process, popen
from grader.isolation.tree_init import Tree
from harness import twins

_PROBE_S: Final = 60.0
PRIVATE_FILE: Final = "/etc/passwd"
"""A file that every user may read, and a tree may not."""
_INIT: Final = ("-S", "-s", "-P", "-m", "grader.isolation.tree_init")


@dataclass(frozen=True, slots=True)
class Tried:
    """What was found by trying: what keeps a tree from being started or confined here, if anything.

    With `counts_disk` the kernel counts what a tree writes.
    """

    obstacle: Obstacle | None
    counts_disk: bool = False


def obstacle() -> Obstacle | None:
    """Why trees cannot be confined without namespaces here, and what to do; None when they can."""
    if not users.is_root():
        return Obstacle(
            "grading does not run as root here", "run it as root in the container (`docker run --user 0 …`)"
        )
    if not users.spare():
        return Obstacle("this container has too few user ids", "give it 65,536 (in /etc/subuid and /etc/subgid)")
    if no_user := users.trouble():
        return no_user
    if reason := seccomp.trouble():
        return Obstacle(reason, seccomp.remedy())
    if (version := host.landlock_version()) <= 0:
        return obstacles.no_landlock(-version)
    if closed := next(_closed(), None):
        return Obstacle(f"other users may not enter {closed}", f"`chmod o+x {closed}`")
    return tried().obstacle


@cache
def tried() -> Tried:
    """Start Python in a tree and let it try what must be refused."""
    uid = users.fresh()
    probe = (GRADER / "inside" / "probe.py").read_text(encoding="utf-8")
    about = [str(uid), str(os.getpid()), PRIVATE_FILE, str(_place())]
    process = _launched(uid, [sys.executable, "-P", "-s", "-c", probe, *about], [], (), DEVNULL)
    try:
        said = process.popen.communicate(timeout=_PROBE_S)[0].decode(errors="replace").strip()
        found = json.loads(said.splitlines()[-1])
        lacking, counted = ", ".join(found["lacking"]), bool(found["counted"])
    except subprocess.TimeoutExpired:
        return Tried(_not_started(f"it did not end within {_PROBE_S:g} s"))
    except (ValueError, IndexError, KeyError, TypeError):
        return Tried(_not_started(said.splitlines()[-1][:200] if said else "it said nothing"))
    finally:
        process.kill()
    fault = Obstacle(f"a promise does not hold here ({lacking})", "grade on another machine") if lacking else None
    return Tried(fault, counted)


def _not_started(said: str) -> Obstacle:
    readable = " ".join(map(str, bubblewrap.prefixes()))
    fix = (
        f"let every user read Python: `chmod -R o+rX {readable}`" if "ermission" in said else "grade on another machine"
    )
    return Obstacle(f"Python does not start as another user here ({said})", fix)


def launch(program: Sequence[str], passed: Sequence[int], hidden: Sequence[Path], stdin: int) -> Process:
    """Start a program as a user of its own, confined by Landlock and seccomp."""
    return _launched(users.fresh(), program, passed, hidden, stdin)


def _launched(uid: int, program: Sequence[str], passed: Sequence[int], hidden: Sequence[Path], stdin: int) -> Process:
    tree = _tree(uid, program, passed, hidden)
    group = cgroups.make(cgroups.place())
    read, write = os.pipe()
    try:
        argv = [sys.executable, *_INIT, str(read)]
        started = popen(argv, {"PYTHONPATH": str(KIT)}, [*passed, read], stdin, group)
    except BaseException:
        os.close(write)
        if group:
            group.close()
        raise
    finally:
        os.close(read)
    _tell(write, tree)
    return Process(started, group=group, lifeline=write, owner=uid, sweep=lambda: _sweep(tree))


def _tree(uid: int, program: Sequence[str], passed: Sequence[int], hidden: Sequence[Path]) -> Tree:
    folder = _place() / f"fairclock-tree-{uid}"
    own, kit = folder / "tmp", folder / "kit"
    readable = [*map(Path, (*bubblewrap.SYSTEM, *bubblewrap.SYSTEM_FILES)), *bubblewrap.prefixes(), kit]
    rules = landlock.tree_rules(readable, [*(KIT / name for name in bubblewrap.PRIVATE), *hidden], own)
    version = host.landlock_version()
    code = seccomp.tree_filter(alone=True)
    return Tree(
        uid=uid,
        folder=str(folder),
        own=str(own),
        kit=str(kit),
        files={f"grader/{name}": str(GRADER / name) for name in bubblewrap.KIT_FILES},
        ruleset=landlock.ruleset(rules, version),
        narrowed=landlock.ruleset(landlock.narrowed(rules), version),
        filter=code.hex() if code else "",
        program=[*users.becoming(uid), *program],
        environment={**twins.ENVIRONMENT, "PYTHONPATH": str(kit), "HOME": str(own), "TMPDIR": str(own)},
        passed=list(passed),
    )


def _tell(descriptor: int, tree: Tree) -> None:
    data = json.dumps(asdict(tree)).encode() + b"\n"
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except BrokenPipeError:
        return  # it did not start, as whoever waits for it will see


def _sweep(tree: Tree) -> None:
    """End what a tree has left whose first process was killed, as by a system without memory."""
    read, write = os.pipe()
    with os.fdopen(read, "rb"), os.fdopen(write, "wb", buffering=0):
        ending = subprocess.Popen(
            [sys.executable, *_INIT, str(read)],
            env={**twins.ENVIRONMENT, "PYTHONPATH": str(KIT)},
            cwd="/",
            pass_fds=[read],
        )
        _tell(write, Tree(**{**asdict(tree), "program": []}))
        ending.wait()


def _place() -> Path:
    """The folder in which each tree has its own: on a disk if one is there, since nothing bounds what memory holds."""
    usual, other = Path(tempfile.gettempdir()).resolve(), Path("/var/tmp")  # noqa: S108
    on_a_disk = (one for one in (usual, other) if os.access(one, os.W_OK) and not host.lies_in_memory(one))
    return next(on_a_disk, usual)


def _closed() -> Iterator[Path]:
    """Folders that a tree's user must enter, and may not."""
    for wanted in [*bubblewrap.prefixes(), _place()]:
        for folder in reversed([wanted.resolve(), *wanted.resolve().parents]):
            if not folder.stat().st_mode & 0o001:
                yield folder
