"""Read the facts about this machine that decide whether a sandbox works: kernel settings and the kind of container.

`sandbox_problems` finds the cause of a problem from these facts. All files are read below the folder `root`, which is
"/" except in tests.
"""

import ctypes
import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from grader.isolation.sandbox_problems import SWITCHES, MachineFacts

_CAP_SYS_ADMIN: Final = 21
_CREATE_RULESET, _VERSION = 444, 1
_ASK: Final = (
    "import ctypes; libc = ctypes.CDLL(None, use_errno=True); "
    "print(ctypes.get_errno() if libc.unshare(0x10000000) else 0)"
)
"""A program that creates a user namespace (CLONE_NEWUSER) and prints the error number, or 0.

It is a program because the kernel refuses user namespaces to a process with several threads.
"""


def observe(binary: str, said: str, root: Path = Path("/")) -> MachineFacts:
    """Return the facts that can explain why bubblewrap, the program `binary`, does not start.

    `said` is the last line that bubblewrap printed.
    """
    start_errno = _start_errno(binary)
    status = {name: value.strip() for name, _, value in (line.partition(":") for line in _lines(root, "status"))}
    mounts = [fields[4] for fields in _mounts(root)]
    return MachineFacts(
        binary=binary,
        bwrap_error=said,
        start_errno=start_errno,
        executable=bool(Path(binary).stat().st_mode & 0o111),  # os.access would also be False on a noexec mount
        noexec=noexec(Path(binary)),
        namespace_errno=0 if start_errno else _namespace_errno(),
        filtered=status.get("Seccomp") == "2",
        admin=bool(int(status.get("CapEff", "0"), 16) >> _CAP_SYS_ADMIN & 1),
        setpriv=shutil.which("setpriv") is not None,
        container=container(root),
        root_is_mount=not mounts or "/" in mounts,
        proc_covered=any(mount.startswith("/proc/") for mount in mounts),
        switches=switches(root),
    )


def _namespace_errno() -> int:
    """Return 0 if the kernel creates a user namespace for this process, or else the error number."""
    asked = subprocess.run([sys.executable, "-I", "-S", "-c", _ASK], capture_output=True, text=True, check=False)
    return int(asked.stdout) if not asked.returncode else 0


def _start_errno(binary: str) -> int:
    try:
        subprocess.run([binary, "--version"], capture_output=True, check=False, timeout=60)
    except OSError as error:
        return error.errno or errno.EIO
    except subprocess.TimeoutExpired:
        pass
    return 0


@cache
def landlock_version() -> int:
    """Return the version of Landlock that this process may use, or a negative error number."""
    libc = ctypes.CDLL(None, use_errno=True)
    version: int = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    return version if version >= 0 else -ctypes.get_errno()


def container(root: Path = Path("/"), environment: Mapping[str, str] = os.environ) -> str:
    """Return the kind of container in which this process runs, or "" if no container is detected.

    Kubernetes sets an environment variable. Docker and Podman each create a file. systemd stores the name that other
    container managers give.
    """
    if "KUBERNETES_SERVICE_HOST" in environment:
        return "kubernetes"
    for mark, kind in (("run/.containerenv", "podman"), (".dockerenv", "docker")):
        if (root / mark).exists():
            return kind
    for path in (root / "run/systemd/container", root / "run/host/container-manager"):
        if path.is_file():
            return path.read_text(encoding="utf-8", errors="replace").strip()
    told = environment.get("container", "")
    return "podman" if told == "oci" else told


def switches(root: Path = Path("/")) -> dict[str, int]:
    """Return the values of the kernel settings that can forbid user namespaces. Missing settings are left out."""
    files = {name: root / "proc" / "sys" / name.replace(".", "/") for name in SWITCHES}
    return {name: int(file.read_text(encoding="ascii")) for name, file in files.items() if file.is_file()}


def noexec(path: Path) -> str:
    """Return the mount point of the file system that contains `path` if it is mounted with noexec, else ""."""
    if not (hasattr(os, "statvfs") and path.exists() and os.statvfs(path).f_flag & os.ST_NOEXEC):  # Windows has none
        return ""
    return str(next(folder for folder in [path, *path.absolute().parents] if folder.is_mount() or folder == Path("/")))


def lies_in_memory(path: Path, root: Path = Path("/")) -> bool:
    """Return whether a folder is on a file system in memory, such as tmpfs."""
    mounts = {Path(fields[4]): fields[fields.index("-") + 1] for fields in _mounts(root)}
    where = next((folder for folder in [path, *path.parents] if folder in mounts), None)
    return where is not None and mounts[where] in {"tmpfs", "ramfs"}


def _mounts(root: Path) -> list[list[str]]:
    return [fields for fields in map(str.split, _lines(root, "mountinfo")) if len(fields) > 4]


def _lines(root: Path, name: str) -> list[str]:
    return (root / "proc" / "self" / name).read_text(encoding="utf-8", errors="replace").splitlines()
