"""Import torch once, and fork a process tree for each submission on request. No submission runs in this process.

The supervisor starts `python -m grader.inside.template_main CONTROL CONFIG`. CONTROL is the number of an inherited
socket, and CONFIG is a JSON text. Each request carries two file descriptors: the control socket of the new tree, and
the pipe for its output. The first process of a tree forks workers, like a process that `worker_main` starts.

In a sandbox, a tree has namespaces of its own (`tree_namespaces`), a seccomp filter, and a first process that only
waits. If this first process ends, the kernel kills all processes of the tree. A tree inherits nothing from another
tree: this process never holds any data of a submission, and its descriptors and memory mappings are checked.

This file imports the standard library, other files of `grader/inside`, and torch.
"""

import contextlib
import fcntl
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.inside import confine, protocol, tree_namespaces, worker_main
from grader.inside.protocol import Channel

FAILED = 1
STANDARD = (0, 1, 2)
"""The descriptors of standard input, output and error."""


def main() -> None:
    """Import torch, then fork a process tree for each request until the supervisor closes the channel."""
    control, config = socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2])
    sys.argv = ["submission"]
    try:
        torch = worker_main.warm_up(tensors=True)
        if config["sandboxed"]:
            check_threads()
            maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
            tree_namespaces.check_nothing_shared(maps, config["kept"])
            config["files"] = [STANDARD[0], *opened_files(control.fileno())]
        own_control = fork_trees(control, config)
    except protocol.Closed:
        os._exit(0)
    worker_main.serve_workers(own_control, torch)


def fork_trees(control: socket.socket, config: dict[str, Any]) -> socket.socket:
    """Fork a process tree for each request until the supervisor closes the channel, which raises `protocol.Closed`.

    Return only in a process of a new tree that is ready to fork workers: the tree's control socket.
    """
    channel = Channel(control.fileno())
    while True:
        kind, body = channel.receive()
        if kind == protocol.REAP:
            channel.send(protocol.DONE, {"status": worker_main.wait_for_end(body["pid"])})
            continue
        _, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        pid = None
        with contextlib.suppress(OSError):  # then the grader notices that the tree does not start, and others go on
            pid = os.fork()
        if pid == 0:
            return begin(control, descriptors, config, body)
        for descriptor in descriptors:
            os.close(descriptor)
        if pid and config["sandboxed"]:
            os.waitpid(pid, 0)  # it has started the tree in other namespaces, and ends at once


def begin(
    control: socket.socket, descriptors: list[int], config: dict[str, Any], body: dict[str, Any]
) -> socket.socket:
    """Turn this fork of the template process into a process tree. Return its control socket, in the right process."""
    try:
        control.close()
        own_control, output = descriptors
        for standard in STANDARD[1:]:
            os.dup2(output, standard)
        os.close(output)
        os.setsid()
        if config["sandboxed"]:
            confined(own_control, config, body)
        else:
            os.environ["HOME"] = body["home"]
        return socket.socket(fileno=own_control)
    except protocol.Closed:
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - a fork must not go on as its parent
        print(f"no process tree: {error}", file=sys.stderr, flush=True)
        os._exit(FAILED)


def opened_files(control: int) -> list[int]:
    """Return the descriptors that this process has opened itself. Raise `OSError` if one is not a file for reading.

    Python's ctypes keeps the file of a library open.
    """
    found = []
    for link in list(Path("/proc/self/fd").iterdir()):
        number = int(link.name)
        if number in STANDARD or number == control or not link.exists():  # the listing itself was open, and is closed
            continue
        if not link.is_file() or fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
            raise OSError(f"the template process has opened {link.readlink()}")
        found.append(number)
    return found


def check_threads() -> None:
    """Raise `OSError` if this process has several threads. A fork has one, and would wait for the others' locks."""
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads > 1:
        raise OSError(f"the template process has {threads} threads")


def renew(descriptors: Sequence[int]) -> None:
    """Open these files again, so that process trees do not share a position in a file."""
    for number in descriptors:
        again = os.open(f"/proc/self/fd/{number}", os.O_RDONLY)
        os.dup2(again, number, inheritable=False)
        os.close(again)


def confined(own_control: int, config: dict[str, Any], body: dict[str, Any]) -> None:
    """Confine a new process tree. Return only in its second process, which then serves the supervisor."""
    renew(config["files"])
    tree_namespaces.enter(new_user=config["new_user"])
    if os.fork():
        os._exit(0)
    channel = Channel(own_control)
    channel.send(protocol.HELLO)  # the supervisor reads this process's id from it, and sets its control group
    channel.receive()
    tree_namespaces.make_private(config["kept"])
    tree_namespaces.drop_privileges(body["uid"])
    if config["filter"]:
        confine.install_filter(config["filter"])
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)  # without a handler, no process of the tree can end this one
    first = os.fork()
    if not first:
        signal.signal(signal.SIGINT, handler)
    else:
        os.closerange(0, own_control + 1)
        os.waitpid(first, 0)
        os._exit(0)


if __name__ == "__main__":
    main()
