"""Start processes in bubblewrap's Linux namespaces, with the strongest confinement that works on this machine.

Each kind of confinement is tried, the strongest first. The result is kept for later calls.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

from grader.isolation import bubblewrap, machine_facts, process_tree, sandbox_problems, seccomp, tree_users
from grader.isolation.process_tree import ProcessTree
from grader.isolation.sandbox_problems import SandboxProblem

PROGRAM: Final = "from grader.inside import confine, loading, protocol"
_PROBE_S: Final = 60.0


@cache
def bwrap() -> str | None:
    """Return the path of the first installed bubblewrap that starts a sandbox, or None if none is installed.

    If none starts a sandbox, return the first. The system's bubblewrap may be too old (Ubuntu 22.04 has 0.6), while
    that of the Python package works.
    """
    found = bubblewrap.installed()
    return next((binary for binary in found if not probe(binary).trouble), found[0]) if found else None


def problem() -> SandboxProblem | None:
    """Return why bubblewrap does not work on this machine, with the fix, or None if it works."""
    binary = bwrap()
    if binary is None:
        return sandbox_problems.not_installed()
    if said := probe(binary).trouble:
        return sandbox_problems.explain(machine_facts.observe(binary, said))
    return None


@dataclass(frozen=True, slots=True)
class BwrapProbe:
    """The strongest confinement in which bubblewrap starts Python. `trouble` is the error if none works.

    `own_user` is True if the sandbox has a user of its own, and `filtered` if it has a seccomp filter. If not,
    `no_user` and `no_filter` are the reasons.
    """

    own_user: bool
    filtered: bool
    trouble: str = ""
    no_user: SandboxProblem | None = None
    no_filter: SandboxProblem | None = None


@cache
def probe(binary: str) -> BwrapProbe:
    """Return the strongest confinement in which the bubblewrap `binary` starts Python, and why stronger ones fail."""
    no_user, no_filter = tree_users.trouble(), seccomp.problem()
    users_ = [True, False] if tree_users.is_root() and not no_user else [False]
    filters = [False] if no_filter else [True, False]
    said: dict[tuple[bool, bool], str] = {}
    for own_user, filtered in product(users_, filters):
        failure = said[own_user, filtered] = _failure(binary, own_user=own_user, filtered=filtered)
        if not failure:
            if own_user < users_[0]:
                no_user = tree_users.not_started(said[True, filtered])
            if filtered < filters[0]:
                found = f"bubblewrap cannot install a seccomp filter here ({said[own_user, True]})"
                no_filter = SandboxProblem(
                    found, "let this process call prctl(PR_SET_SECCOMP), or grade on another machine"
                )
            return BwrapProbe(own_user, filtered, no_user=no_user, no_filter=no_filter)
    return BwrapProbe(own_user=False, filtered=False, trouble=failure)


def _failure(binary: str, *, own_user: bool, filtered: bool) -> str:
    program = [sys.executable, "-P", "-s", "-c", PROGRAM]
    try:
        tree = _start(binary, program, own_user=own_user, filtered=filtered)
    except OSError as error:
        return error.strerror or str(error)
    status, printed = tree.finish(_PROBE_S)
    if status is None:
        return f"it did not end within {_PROBE_S:g} s"
    said = printed.decode(errors="replace").strip() or f"exit status {status}"
    return said.splitlines()[-1][:200] if status else ""


def launch(
    program: Sequence[str],
    passed: Sequence[int],
    hidden: Sequence[Path],
    stdin: int = subprocess.DEVNULL,
    *,
    template: bool = False,
) -> ProcessTree:
    """Start a program in bubblewrap, with the strongest confinement that works.

    A `template` process has no seccomp filter, and if root grades, no user of its own. Its process trees get both
    before they load a submission.
    """
    binary = bwrap() or "bwrap"
    way = probe(binary)
    read, write = os.pipe()
    try:
        tree = _start(
            binary,
            program,
            passed,
            hidden,
            stdin,
            own_user=way.own_user,
            filtered=way.filtered and not template,
            template=template,
            info=write,
        )
    except BaseException:
        os.close(read)
        raise
    finally:
        os.close(write)
    tree.info = read
    return tree


def _start(
    binary: str,
    program: Sequence[str],
    passed: Sequence[int] = (),
    hidden: Sequence[Path] = (),
    stdin: int = subprocess.DEVNULL,
    *,
    own_user: bool,
    filtered: bool,
    template: bool = False,
    info: int | None = None,
) -> ProcessTree:
    argv = bubblewrap.command(binary, hidden, own_user=own_user, template=template)
    passed = list(passed)
    if info is not None:
        argv += ["--info-fd", str(info)]
        passed.append(info)
    with tempfile.TemporaryFile() as file:
        if filtered and (code := seccomp.tree_filter()):
            file.write(code)
            file.seek(0)
            argv += ["--seccomp", str(file.fileno())]
            passed.append(file.fileno())
        become = tree_users.become_command(tree_users.new_id()) if own_user and not template else []
        environment = {"PYTHONPATH": bubblewrap.KIT_INSIDE}
        return process_tree.start(
            [*argv, "--", *become, *program], environment, passed, stdin=stdin, grouped=info is not None
        )
