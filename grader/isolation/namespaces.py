"""Start processes in bubblewrap's Linux namespaces, with the strongest confinement that works on this machine.

Each kind of confinement is tried, the strongest first. The result is kept for later calls.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

from grader.isolation import bubblewrap, cgroups, machine_facts, sandbox_problems, seccomp, tree_users
from grader.isolation.process_tree import ProcessTree, popen
from grader.isolation.sandbox_problems import SandboxProblem
from harness.processes import process_env

PROGRAM: Final = "from grader.inside import confine, loading, protocol"


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
    no_user, reason = tree_users.trouble(), seccomp.trouble()
    no_filter = SandboxProblem(reason, seccomp.remedy()) if reason else None
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
    with command(binary, program, (), own_user=own_user, filtered=filtered) as (argv, descriptors):
        environment = {**process_env.ENVIRONMENT, "PYTHONPATH": bubblewrap.KIT_INSIDE}
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


def launch(program: Sequence[str], passed: Sequence[int], hidden: Sequence[Path], stdin: int) -> ProcessTree:
    """Start a program in bubblewrap, with the strongest confinement that works."""
    return _launched(program, passed, hidden, stdin, template=False)


def launch_template(program: Sequence[str], passed: Sequence[int], hidden: Sequence[Path]) -> ProcessTree:
    """Start a template process in bubblewrap. It has no seccomp filter, and if root grades, no user of its own.

    Its process trees get both before they load a submission.
    """
    return _launched(program, passed, hidden, subprocess.DEVNULL, template=True)


def _launched(
    program: Sequence[str], passed: Sequence[int], hidden: Sequence[Path], stdin: int, *, template: bool
) -> ProcessTree:
    binary = bwrap() or "bwrap"
    way = probe(binary)
    group = cgroups.create(cgroups.support())
    info_read, info_write = os.pipe()
    try:
        with command(
            binary,
            program,
            hidden,
            own_user=way.own_user,
            filtered=way.filtered,
            info=info_write,
            template=template,
        ) as (argv, descriptors):
            environment = {"PYTHONPATH": bubblewrap.KIT_INSIDE}
            started = popen(argv, environment, [*passed, info_write, *descriptors], stdin, group)
    except BaseException:
        os.close(info_read)
        if group:
            group.close()
        raise
    finally:
        os.close(info_write)
    return ProcessTree(started, info_read, group)


@contextlib.contextmanager
def command(
    binary: str,
    program: Sequence[str],
    hidden: Sequence[Path],
    *,
    own_user: bool,
    filtered: bool,
    info: int | None = None,
    template: bool = False,
) -> Iterator[tuple[list[str], list[int]]]:
    """Yield the command that starts a program in a sandbox, and the file descriptors that the command inherits."""
    argv = bubblewrap.command(binary, hidden, own_user=own_user, template=template)
    argv += [] if info is None else ["--info-fd", str(info)]
    become = tree_users.become_command(tree_users.new_id()) if own_user and not template else []
    with contextlib.ExitStack() as open_files:
        descriptors: list[int] = []
        if filtered and not template and (code := seccomp.tree_filter()):
            descriptors.append(open_files.enter_context(_holding(code)))
            argv += ["--seccomp", str(descriptors[-1])]
        yield [*argv, "--", *become, *program], descriptors


@contextlib.contextmanager
def _holding(content: bytes) -> Iterator[int]:
    read, write = os.pipe()
    try:
        os.write(write, content)
        os.close(write)
        yield read
    finally:
        os.close(read)
