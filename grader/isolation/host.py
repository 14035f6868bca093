"""What is seen of a machine on which bubblewrap does not start: settings of its kernel, and what this process runs in.

`obstacles` says what follows from it. Everything is read below `root`, which tests replace.
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

from grader.isolation.obstacles import SWITCHES, Seen

_CAP_SYS_ADMIN: Final = 21
_CREATE_RULESET, _VERSION = 444, 1
_ASK: Final = (
    "import ctypes; libc = ctypes.CDLL(None, use_errno=True); "
    "print(ctypes.get_errno() if libc.unshare(0x10000000) else 0)"
)
"""Makes a user namespace (CLONE_NEWUSER) in a process of its own, since the kernel refuses it to one with threads."""


def observe(binary: str, said: str, root: Path = Path("/")) -> Seen:
    """Look at everything that can keep this bubblewrap from starting."""
    start_errno = _start_errno(binary)
    status = _status(root)
    mounts = _mount_points(root)
    return Seen(
        binary=binary,
        said=said,
        start_errno=start_errno,
        executable=os.access(binary, os.X_OK) or _marked_executable(binary),
        noexec=noexec(Path(binary)),
        namespace_errno=0 if start_errno else namespace_errno(),
        filtered=status.get("Seccomp") == "2",
        admin=bool(int(status.get("CapEff", "0"), 16) >> _CAP_SYS_ADMIN & 1),
        setpriv=shutil.which("setpriv") is not None,
        container=container(root),
        root_is_mount=not mounts or "/" in mounts,
        proc_covered=any(mount.startswith("/proc/") for mount in mounts),
        switches=switches(root),
    )


def namespace_errno() -> int:
    """Return how asking the kernel for a user namespace ends: 0, or an error number."""
    try:
        asked = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _ASK], capture_output=True, text=True, check=False, timeout=60
        )
        return int(asked.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0


@cache
def landlock_version() -> int:
    """Return the version of Landlock that this process may use; below 0 the negative error number when it may not."""
    libc = ctypes.CDLL(None, use_errno=True)
    version: int = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    return version if version >= 0 else -ctypes.get_errno()


def container(root: Path = Path("/"), environment: Mapping[str, str] = os.environ) -> str:
    """Return what kind of container this process runs in; "" when it seems to be none.

    Kubernetes sets a variable, Docker and Podman leave a file each, and systemd writes down what others tell it.
    """
    if "KUBERNETES_SERVICE_HOST" in environment:
        return "kubernetes"
    if (root / "run" / ".containerenv").exists():
        return "podman"
    if (root / ".dockerenv").exists():
        return "docker"
    for path in (root / "run" / "systemd" / "container", root / "run" / "host" / "container-manager"):
        try:
            if told := path.read_text(encoding="utf-8", errors="replace").strip():
                return told
        except OSError:
            continue
    told = environment.get("container", "")
    return "podman" if told == "oci" else told


def switches(root: Path = Path("/")) -> dict[str, int]:
    """Return the settings of this kernel that decide who may use user namespaces, as far as it has them."""
    found = {}
    for name in SWITCHES:
        try:
            found[name] = int((root / "proc" / "sys" / name.replace(".", "/")).read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
    return found


def noexec(path: Path) -> str:
    """Return the mount point of a file system from which no program may be started and that holds `path`; else ""."""
    if not hasattr(os, "statvfs"):  # Windows
        return ""
    try:
        if not os.statvfs(path).f_flag & os.ST_NOEXEC:
            return ""
    except OSError:
        return ""
    return str(next(folder for folder in [path, *path.absolute().parents] if folder.is_mount() or folder == Path("/")))


def lies_in_memory(path: Path, root: Path = Path("/")) -> bool:
    """Whether a folder lies on a file system in memory (proc(5): mountinfo names the type after a dash)."""
    mounts = {Path(fields[4]): fields[fields.index("-") + 1] for fields in _mounts(root)}
    where = next((folder for folder in [path, *path.parents] if folder in mounts), None)
    return where is not None and mounts[where] in {"tmpfs", "ramfs"}


def _start_errno(binary: str) -> int:
    """Return how starting this program ends: 0, or an error number when not even that works."""
    try:
        subprocess.run([binary, "--version"], capture_output=True, check=False, timeout=60)
    except OSError as error:
        return error.errno or errno.EIO
    except subprocess.TimeoutExpired:
        return 0
    return 0


def _marked_executable(binary: str) -> bool:
    """Whether the file's mode lets it be started: on a file system with noexec, `os.access` never does."""
    try:
        return bool(Path(binary).stat().st_mode & 0o111)
    except OSError:
        return True


def _status(root: Path) -> dict[str, str]:
    """Return what /proc says of this process; nothing where it is not to be read."""
    try:
        lines = (root / "proc" / "self" / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _mount_points(root: Path) -> list[str]:
    """Return where something is mounted, as this process sees it (proc(5): the fifth field of mountinfo)."""
    return [fields[4] for fields in _mounts(root)]


def _mounts(root: Path) -> list[list[str]]:
    """Return the fields of mountinfo, a list for each mount, the last one mounted last."""
    try:
        lines = (root / "proc" / "self" / "mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [fields for fields in map(str.split, lines) if len(fields) > 4]
