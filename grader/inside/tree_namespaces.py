"""Give a forked process tree Linux namespaces, temporary folders and a user of its own, and remove its privileges.

A template process (`template_main`) runs in bubblewrap's sandbox. Each of its process trees gets new namespaces inside
this sandbox. So a tree sees only its own processes, network, message queues and temporary folders. Any failure raises
`OSError`, and the tree then ends before it has loaded a submission.

This file runs in the sandbox and imports only the standard library. Sources: namespaces(7), user_namespaces(7),
capabilities(7).
"""

import contextlib
import ctypes
import os
import struct
from collections.abc import Sequence
from pathlib import Path

USER = 65534
"""The user and group inside a user namespace. By convention, they own nothing."""

TMP_BYTES = 256 << 20
SHM_BYTES = 64 << 20
"""The sizes of the two folders to which a tree may write, /tmp and /dev/shm."""

NEW_FOLDERS = {"/tmp": TMP_BYTES, "/dev/shm": SHM_BYTES}  # noqa: S108 - every tree has its own
"""The folders to which a tree may write, with their sizes. They are new, so they hide the folders of these names."""

_NEW_MOUNTS, _NEW_CGROUP, _NEW_NAMES, _NEW_IPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
_NEW_USER, _NEW_PIDS, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXEC, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 4, 8, 1 << 12, 1 << 14, 1 << 18
_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _CLEAR_ALL = 4, 24, 38, 47, 4
_CAPABILITY_VERSION = 0x20080522
_MOST_CAPABILITIES = 64
_NOT_SYSTEM = ("/dev/", "/tmp/", "/memfd:", "/SYSV")  # noqa: S108


def enter(*, new_user: bool) -> None:
    """Move this process to new namespaces. Its later children are in the new process namespace, and it is not.

    With `new_user`, a new user namespace is made first, because the other namespaces need privileges.
    """
    uid, gid = os.getuid(), os.getgid()
    others = _NEW_MOUNTS | _NEW_NAMES | _NEW_IPC | _NEW_PIDS | _NEW_NETWORK
    _check(_libc().unshare(others | (_NEW_USER if new_user else 0)), "new namespaces")
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
        _mount("tmpfs", folder, "tmpfs", _NO_SUID | _NO_DEVICES, f"mode=1777,size={size}")
    os.umask(0o022)  # the tree's user must be able to enter the folders above the kept ones
    for path, descriptor in zip(kept, descriptors, strict=True):
        Path(path).mkdir(parents=True)
        _mount(f"/proc/self/fd/{descriptor}", path, "", _BIND | _RECURSIVE, "")
        os.close(descriptor)
    with contextlib.suppress(OSError):  # a kernel without control groups
        _check(_libc().unshare(_NEW_CGROUP), "a new control group namespace")


def drop_privileges(uid: int | None) -> None:
    """Become the user `uid`, unless it is None, and give up all capabilities for ever."""
    libc, word = _libc(), ctypes.c_ulong
    for number in range(_MOST_CAPABILITIES):
        if libc.prctl(_PR_CAPBSET_DROP, word(number), word(0), word(0), word(0)):
            break  # the kernel has no further capabilities
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    libc.prctl(_PR_CAP_AMBIENT, word(_CLEAR_ALL), word(0), word(0), word(0))
    header, none = struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24)
    _check(libc.capset(header, none), "no capabilities")
    _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, word(1), word(0), word(0), word(0)), "no new privileges")
    # The kernel hides a process after such a change. But the grader reads its memory use.
    _check(libc.prctl(_PR_SET_DUMPABLE, word(1), word(0), word(0), word(0)), "a process that the grader can read")
    check_dropped(Path("/proc/self/status").read_text(encoding="ascii", errors="replace"))


def check_dropped(status: str) -> None:
    """Raise `OSError` if a process with this /proc/PID/status has capabilities, or could get them."""
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    sets = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    if any(int(fields[name], 16) for name in sets) or fields["NoNewPrivs"].strip() != "1":
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
    _check(_libc().mount(*texts, ctypes.c_ulong(flags), data.encode() or None), f"mount {kind} on {target}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
