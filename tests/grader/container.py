"""Run a command confined as in a container: `python tests/grader/container.py KIND -- COMMAND …`.

Docker's default is a set of 14 capabilities and a seccomp profile that refuses namespaces, mounts and
`personality(ADDR_NO_RANDOMIZE)` (moby: profiles/seccomp/default.json, daemon/pkg/oci/caps/defaults.go).
"""

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from grader.isolation import seccomp
from grader.isolation.bubblewrap import installed
from grader.isolation.seccomp import Condition, Rule, When

CAPABILITIES: Final = frozenset({0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31})
"""The capabilities in Docker's default set.

chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, net_raw, sys_chroot, mknod,
audit_write, setfcap (linux/capability.h).
"""
ADDR_NO_RANDOMIZE: Final = 0x40000
DOCKER: Final = "/.dockerenv"
"""The file that exists in every Docker container."""

_MOUNTS: Final = Rule("mount umount2 move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr", "a container")
_NAMESPACES: Final = (
    Rule("unshare setns pivot_root", "a container"),
    Rule("clone", "a container", condition=Condition(0, When.ANY_BIT, (seccomp.NEW_NAMESPACES,))),
    Rule("clone3", "a container", errno.ENOSYS),
)
_LAYOUT: Final = Rule("personality", "a container", condition=Condition(0, When.EQUALS, (ADDR_NO_RANDOMIZE,)))
_KERNEL: Final = Rule(
    "keyctl add_key request_key bpf perf_event_open userfaultfd open_by_handle_at acct quotactl kcmp pidfd_getfd "
    "process_madvise init_module finit_module delete_module reboot syslog kexec_load swapon swapoff settimeofday "
    "clock_settime sethostname setdomainname vhangup iopl ioperm fanotify_init move_pages migrate_pages uselib",
    "a container",
)
_LANDLOCK: Final = Rule("landlock_create_ruleset landlock_add_rule landlock_restrict_self", "a container, before 2022")
_DOCKER: Final = (*_NAMESPACES, _MOUNTS, _LAYOUT, _KERNEL)

FILTERS: Final = {
    "docker": _DOCKER,
    "old docker": (*_DOCKER, _LANDLOCK),
    "no mounts": (_MOUNTS,),
    "unconfined": (),
    "covered": (),
}
_NUMBERS: Final = {
    f"landlock_{call}": 444 + at for at, call in enumerate(("create_ruleset", "add_rule", "restrict_self"))
}
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_CAPBSET_DROP = 38, 22, 24


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def container(kind: str, command: Sequence[str], mark: str = DOCKER) -> list[str]:
    """Return a command that runs another one, confined as `kind`, in a copy of this root folder with the file `mark`.

    The kind "covered" only covers a file of /proc, as Docker and Podman cover some.
    """
    argv = [installed()[0], "--cap-add", "ALL"] if os.geteuid() == 0 else [installed()[0]]
    for entry in sorted(Path("/").iterdir()):
        if entry.is_symlink():
            argv += ["--symlink", str(entry.readlink()), str(entry)]
        elif entry.is_dir() and entry.name not in {"proc", "dev", "run"}:
            argv += _bound(entry)
    argv += ["--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc", "--tmpfs", "/run"]  # its own /proc is covered
    argv += ["--ro-bind", "/dev/null", "/proc/keys"] if kind == "covered" else []
    argv += ["--ro-bind", "/dev/null", mark]
    return [*argv, "--", sys.executable, __file__, kind, *command]


def _bound(folder: Path) -> list[str]:
    """Show a folder inside the container, and let every user enter it, such as root's home with pyenv."""
    if folder.stat().st_mode & 0o001:
        return ["--bind", str(folder), str(folder)]
    inside = [
        word for entry in sorted(folder.iterdir()) if entry.is_dir() for word in ("--bind", str(entry), str(entry))
    ]
    return ["--perms", "0755", "--dir", str(folder), *inside]


def confine(kind: str) -> None:
    """Confine this process and its future children for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if rules := FILTERS[kind]:
        here = seccomp.ARCHITECTURES[platform.machine()]
        code = seccomp.compiled(rules, replace(here, numbers={**here.numbers, **_NUMBERS}))
        program = _Program(len(code) // 8, code)
        if libc.prctl(_PR_SET_SECCOMP, 2, ctypes.byref(program), 0, 0):
            raise OSError(ctypes.get_errno(), "no filter")
    for capability in range(64):
        if capability not in CAPABILITIES:
            libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


if __name__ == "__main__":
    confine(sys.argv[1])
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - what is started is confined as this process is
