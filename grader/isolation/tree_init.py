"""The first process of a tree where there are no namespaces: `python -m grader.isolation.tree_init DESCRIPTOR`.

It runs as root and none of the submission's code. It makes the tree's folder, starts the program as the tree's own
user, and waits. When the program has ended, or the pipe `DESCRIPTOR` is closed (also when the supervisor was killed),
it kills every process of that user and removes the folder. Like an init, it adopts processes whose parents have ended.

The pipe brings one line of JSON first (`Tree`). Standard library alone: it starts in some 30 ms.
"""

import contextlib
import ctypes
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
"""The exit status when the program could not be started: what shells use."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree to be started, or with an empty `program` one that is only to be ended.

    `files` are copied to `folder`/kit by their names there, beside the ruleset that holds from before a submission is
    loaded. `own` is the folder that its user may write to.
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
    """Start a tree, wait for its end, and leave nothing of it."""
    lifeline = int(sys.argv[1])
    os.set_inheritable(lifeline, False)
    tree = Tree(**json.loads(_line(lifeline)))
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    status = 0
    try:
        if tree.program:
            make_folders(tree)
            program = start(tree)
            for descriptor in tree.passed:
                os.close(descriptor)  # whoever waits for their end must not wait for this process
            status = attend(program, lifeline)
    finally:
        end_all(tree.uid)
        remove(tree.folder)
    os._exit(status)


def make_folders(tree: Tree) -> None:
    """Make the tree's folder, its copy of the kit's files, and the folder that its user may write to."""
    os.umask(0o022)
    Path(tree.folder).mkdir()  # it must not be there yet, not even as a link
    for name, source in tree.files.items():
        place = Path(tree.kit, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
    Path(tree.kit, confine.RULESET.name).write_text(json.dumps(tree.narrowed), encoding="utf-8")
    Path(tree.own).mkdir(mode=0o700)
    os.chown(tree.own, tree.uid, tree.uid)


def start(tree: Tree) -> int:
    """Start the program, confined for good. `tree.program` becomes the tree's user first."""
    pid = os.fork()
    if pid:
        return pid
    try:
        confine.restrict(tree.ruleset)
        confine.install(tree.filter)
        os.execvpe(tree.program[0], tree.program, tree.environment)  # noqa: S606
    except BaseException as error:  # noqa: BLE001 - a fork must not go on as its parent
        print(f"{tree.program[0]} does not start: {error}", file=sys.stderr, flush=True)
        os._exit(NOT_STARTED)


def attend(program: int, lifeline: int) -> int:
    """Wait until the program ends, or nobody holds the other end of the pipe: the exit status as a shell tells it."""
    ended = os.pidfd_open(program)
    waiting = select.poll()
    waiting.register(ended, select.POLLIN)
    waiting.register(lifeline, select.POLLIN)
    if ended not in dict(waiting.poll()):
        return 128 + signal.SIGKILL
    status = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    return status if status >= 0 else 128 - status


def end_all(uid: int) -> None:
    """Kill every process of a user, at once, and wait for those of this tree."""
    killer = os.fork()
    if not killer:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            if os.getresuid() == (uid, uid, uid):
                os.kill(-1, signal.SIGKILL)  # spares the process that asks, and those of other users
        finally:
            os._exit(0)
    with contextlib.suppress(ChildProcessError):  # none is left
        while True:
            os.wait()


def remove(folder: str) -> None:
    """Remove a folder with all that is in it, however deep: the command follows no links and needs no long paths."""
    subprocess.run(["/bin/rm", "-rf", "--one-file-system", "--", folder], check=False, env={})


def _line(descriptor: int) -> bytes:
    read = bytearray()
    while not read.endswith(b"\n"):
        part = os.read(descriptor, 1 << 16)
        if not part:
            os._exit(0)  # whoever started this is gone
        read += part
    return bytes(read)


if __name__ == "__main__":
    main()
