"""Import torch once, and fork a process tree for each submission on request. No submission runs in this process.

The supervisor starts `python -m grader.inside.template_main CONTROL CONFIG`. CONTROL is the number of an inherited
socket, and CONFIG is a JSON text. Each request carries two file descriptors: the control socket of the new tree, and
the pipe for its output. The first process of a tree forks workers, like a process that `worker_main` starts.

In a sandbox, this process runs in bubblewrap. A tree has further namespaces inside this sandbox, so it sees only its
own processes, network, message queues and temporary folders. It also has a user, if root grades, a seccomp filter, and
a first process that only waits. If this first process ends, the kernel kills all processes of the tree. A tree inherits
nothing from another tree: this process never holds any data of a submission, and its descriptors and memory mappings
are checked. If a tree cannot be confined, it ends before it has loaded a submission.

This file imports the standard library, other files of `grader/inside`, and torch. Sources: namespaces(7),
user_namespaces(7), capabilities(7).
"""

import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.inside import confine, protocol, worker_main
from grader.inside.protocol import Channel

STANDARD = (0, 1, 2)
"""The descriptors of standard input, output and error."""

USER = 65534
"""The user and group inside a user namespace. By convention, they own nothing."""

TMP_BYTES = 256 << 20
SHM_BYTES = 64 << 20
"""The sizes of the two folders to which a tree may write, /tmp and /dev/shm."""

MOST_FILES = 2_000
"""The most files that a tree may have in each of these folders. Each takes about 1 KiB of the kernel's memory."""

NEW_FOLDERS = {"/tmp": TMP_BYTES, "/dev/shm": SHM_BYTES}  # noqa: S108 - every tree has its own
"""The folders to which a tree may write, with their sizes. They are new, so they hide the folders of these names."""

_NEW_MOUNTS, _NEW_CGROUP, _NEW_NAMES, _NEW_IPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
_NEW_USER, _NEW_PIDS, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXEC, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 4, 8, 1 << 12, 1 << 14, 1 << 18
_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _CLEAR_ALL = 4, 24, 38, 47, 4
_CAPABILITY_VERSION = 0x20080522
_MOST_CAPABILITIES = 64
_NOT_SYSTEM = ("/dev/", "/tmp/", "/memfd:", "/SYSV")  # noqa: S108


def main() -> None:
    """Import torch, then fork a process tree for each request until the supervisor closes the channel."""
    control, config = socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2])
    sys.argv = ["submission"]
    try:
        torch = worker_main.warm_up(tensors=True)
        if config["sandboxed"]:
            confine.check_threads()  # a fork has one thread, and would wait for the locks of others
            maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
            check_nothing_shared(maps, config["kept"])
            config["files"] = [STANDARD[0], *opened_files(control.fileno())]
        own_control = fork_trees(control, config)
    except protocol.Closed:
        os._exit(0)
    worker_main.serve_workers(own_control, torch, "" if config["sandboxed"] else os.environ["HOME"])


def fork_trees(control: socket.socket, config: dict[str, Any]) -> socket.socket:
    """Fork a process tree for each request until the supervisor closes the channel, which raises `protocol.Closed`.

    Return only in a process of a new tree that is ready to fork workers: the tree's control socket.
    """

    def forked(pid: int | None) -> None:
        if pid and config["sandboxed"]:
            os.waitpid(pid, 0)  # it has started the tree in other namespaces, and ends at once

    (own_control, output), body = worker_main.fork_on_request(control, 2, forked)
    try:
        for standard in STANDARD[1:]:
            os.dup2(output, standard)
        os.close(output)
        os.setsid()
        if config["sandboxed"]:
            confined(own_control, config, body["uid"])
        else:
            os.environ["HOME"] = body["home"]
        return socket.socket(fileno=own_control)
    except protocol.Closed:
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - a fork must not go on as its parent
        print(f"no process tree: {error}", file=sys.stderr, flush=True)
        os._exit(1)


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


def renew(descriptors: Sequence[int]) -> None:
    """Open these files again, so that process trees do not share a position in a file."""
    for number in descriptors:
        again = os.open(f"/proc/self/fd/{number}", os.O_RDONLY)
        os.dup2(again, number, inheritable=False)
        os.close(again)


def confined(own_control: int, config: dict[str, Any], uid: int | None) -> None:
    """Confine a new process tree. Return only in its second process, which then serves the supervisor."""
    renew(config["files"])
    enter(new_user=config["new_user"])
    if os.fork():
        os._exit(0)
    channel = Channel(own_control)
    channel.send(protocol.HELLO)  # the supervisor reads this process's id from it, and sets its control group
    channel.receive()
    make_private(config["kept"])
    drop_privileges(uid)
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


def enter(*, new_user: bool) -> None:
    """Move this process to new namespaces. Its later children are in the new process namespace, and it is not.

    With `new_user`, a new user namespace is made first, because the other namespaces need privileges.
    """
    uid, gid = os.getuid(), os.getgid()
    others = _NEW_MOUNTS | _NEW_NAMES | _NEW_IPC | _NEW_PIDS | _NEW_NETWORK
    confine.call("new namespaces", "unshare", others | (_NEW_USER if new_user else 0))
    if new_user:
        for file, line in (("setgroups", "deny"), ("uid_map", f"{USER} {uid} 1"), ("gid_map", f"{USER} {gid} 1")):
            Path("/proc/self", file).write_text(line, encoding="ascii")


def make_private(kept: Sequence[str]) -> None:
    """Mount a new /proc, terminals, and new temporary folders, which only this tree sees. Hide the cgroup's path.

    `kept` are the folders in temporary folders that stay visible at their paths: those of Python and its packages. They
    stay read-only, and what the sandbox hides in them stays hidden.
    """
    _mount("none", "/", "", _RECURSIVE | _PRIVATE, "")
    _mount("proc", "/proc", "proc", _READ_ONLY | _NO_SUID | _NO_DEVICES | _NO_EXEC, "")
    _mount("devpts", "/dev/pts", "devpts", _NO_SUID | _NO_EXEC, "newinstance,ptmxmode=0666,mode=620")
    descriptors = [os.open(path, os.O_PATH) for path in kept]
    for folder, size in NEW_FOLDERS.items():
        _mount("tmpfs", folder, "tmpfs", _NO_SUID | _NO_DEVICES, f"mode=1777,size={size},nr_inodes={MOST_FILES}")
    os.umask(0o022)  # the tree's user must be able to enter the folders above the kept ones
    for path, descriptor in zip(kept, descriptors, strict=True):
        Path(path).mkdir(parents=True)
        _mount(f"/proc/self/fd/{descriptor}", path, "", _BIND | _RECURSIVE, "")
        os.close(descriptor)
    with contextlib.suppress(OSError):  # a kernel without control groups
        confine.call("a new control group namespace", "unshare", _NEW_CGROUP)


def drop_privileges(uid: int | None) -> None:
    """Become the user `uid`, unless it is None, and give up all capabilities for ever."""
    with contextlib.suppress(OSError):  # the kernel has no further capabilities
        for number in range(_MOST_CAPABILITIES):
            confine.call("no capability", "prctl", _PR_CAPBSET_DROP, number, 0, 0, 0)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    confine.call("no ambient capabilities", "prctl", _PR_CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    confine.call("no capabilities", "capset", struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24))
    confine.call("no new privileges", "prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # The kernel hides a process after such a change. But the grader reads its memory use.
    confine.call("a process that the grader can read", "prctl", _PR_SET_DUMPABLE, 1, 0, 0, 0)
    check_dropped(confine.fields("/proc/self/status"))


def check_dropped(status: Mapping[str, str]) -> None:
    """Raise `OSError` if a process with this status has capabilities, or could get them."""
    sets = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    if any(int(status[name], 16) for name in sets) or status["NoNewPrivs"] != "1":
        raise OSError("a process tree has kept privileges")


def check_nothing_shared(maps: str, kept: Sequence[str] = ()) -> None:
    """Raise `OSError` if a process with this /proc/PID/maps has memory that its forks could use to exchange data.

    Read-only mappings of files of the system, or of the folders `kept`, are allowed.
    """
    read_only = tuple(f"{folder}/" for folder in kept)
    for line in maps.splitlines():
        _, access, _, _, _, path = (*line.split(maxsplit=5), "")[:6]
        of_system = path.startswith("/") and (path.startswith(read_only) or not path.startswith(_NOT_SYSTEM))
        if access.endswith("s") and ("w" in access or not of_system or path.endswith("(deleted)")):
            raise OSError(f"the template process has shared memory: {line}")


def _mount(source: str, target: str, kind: str, flags: int, data: str) -> None:
    texts = (os.fsencode(source), os.fsencode(target), kind.encode() or None)
    confine.call(f"mount {kind} on {target}", "mount", *texts, flags, data.encode() or None)


if __name__ == "__main__":
    main()
