"""The first process of a sandbox without Linux namespaces. It starts a program and ends all processes of its user.

`python -m grader.isolation.tree_init LIFELINE DESCRIPTION` runs as root, and runs no code of the submission. It creates
the sandbox's folder and starts the program as the sandbox's own user. It waits until the program has ended or the pipe
LIFELINE is closed. The pipe is also closed if the grader is killed. Then this process kills every process of the user
and removes the folder. It also becomes the parent of processes whose parents have ended.

DESCRIPTION is an open file with a `Tree` as JSON. This module imports only the standard library and `confine`, so that
it starts in about 30 ms.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.inside import confine

_PR_SET_CHILD_SUBREAPER = 36
NOT_STARTED = 126
"""The exit status if the program could not be started, as shells use it."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The program of a sandbox, its user and its files. If `program` is empty, the user's processes are only ended.

    `files` maps names in the folder `kit` to files to copy there. `ruleset` are Landlock rules for the program, and
    `narrowed` those that are applied before a submission is loaded. The program may write to the folder `own`.
    """

    uid: int
    folder: str
    own: str
    kit: str
    files: dict[str, str]
    ruleset: dict[str, Any]
    narrowed: dict[str, Any]
    filter: str
    program: list[str]
    environment: dict[str, str]
    passed: list[int]


def main() -> None:
    """Start the program of the description, wait for its end, and remove its remaining processes and files."""
    lifeline, description = map(int, sys.argv[1:])
    os.set_inheritable(lifeline, False)
    with os.fdopen(description) as file:
        tree = Tree(**json.load(file))
    confine.call("a parent of orphans", "prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    status = 0
    try:
        if tree.program:
            make_folders(tree)
            program = start(tree)
            for descriptor in tree.passed:
                os.close(descriptor)  # so that readers of these descriptors see the program close them
            status = attend(program, lifeline)
    finally:
        end_all(tree.uid)
        # `rm` follows no links and can remove very deep folders.
        subprocess.run(["/bin/rm", "-rf", "--one-file-system", "--", tree.folder], check=False, env={})
    os._exit(status)


def make_folders(tree: Tree) -> None:
    """Create a sandbox's folder, the copies of its files, and the folder to which its user may write."""
    os.umask(0o022)
    Path(tree.folder).mkdir()  # fails if the path exists, even as a link
    for name, source in tree.files.items():
        place = Path(tree.kit, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
    Path(tree.kit, confine.RULESET.name).write_text(json.dumps(tree.narrowed), encoding="utf-8")
    Path(tree.own).mkdir(mode=0o700)
    os.chown(tree.own, tree.uid, tree.uid)


def start(tree: Tree) -> int:
    """Start the program, confined and as the sandbox's user, and return its process id."""
    if pid := os.fork():
        return pid
    try:
        confine.apply_ruleset(tree.ruleset)
        confine.install_filter(tree.filter)
        os.execvpe(tree.program[0], tree.program, tree.environment)  # noqa: S606
    except BaseException as error:  # noqa: BLE001 - a fork must not go on as its parent
        print(f"{tree.program[0]} does not start: {error}", file=sys.stderr, flush=True)
        os._exit(NOT_STARTED)


def attend(program: int, lifeline: int) -> int:
    """Wait until the process `program` ends or the pipe `lifeline` is closed. Return an exit status as in shells."""
    ended = os.pidfd_open(program)
    waiting = select.poll()
    waiting.register(ended, select.POLLIN)
    waiting.register(lifeline, select.POLLIN)
    if ended not in dict(waiting.poll()):
        return 128 + signal.SIGKILL
    status = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    return status if status >= 0 else 128 - status


def end_all(uid: int) -> None:
    """Kill every process of a user at once, and wait until all children of this process have ended."""
    if not os.fork():
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            if os.getresuid() == (uid, uid, uid):
                os.kill(-1, signal.SIGKILL)  # does not reach this process and processes of other users
        finally:
            os._exit(0)
    with contextlib.suppress(ChildProcessError):  # no child is left
        while True:
            os.wait()


if __name__ == "__main__":
    main()
