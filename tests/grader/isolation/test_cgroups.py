"""Control groups for process trees: on which machines they work, and which limits are written to their files.

Plain files replace the kernel's files. If a group is delegated to the tests, they also make a real group.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.isolation import cgroups
from grader.isolation.cgroups import ControlGroup


@pytest.fixture
def machine(tmp_path: Path) -> tuple[Path, Path]:
    """Return a fake mount of cgroup v2 and the fake file of this process, which is alone in a delegated group."""
    own, group = tmp_path / "own", tmp_path / "fs" / "user" / "run.scope"
    group.mkdir(parents=True)
    own.write_text("1:name=systemd:/\n0::/user/run.scope\n")
    for name, text in {
        "cgroup.controllers": "cpu memory pids\n",
        "cgroup.subtree_control": "\n",
        "cgroup.procs": f"{os.getpid()}\n",
        "cgroup.type": "domain\n",
    }.items():
        (group / name).write_text(text)
    return tmp_path / "fs", own


def test_where_groups_can_be_made_and_where_not(machine: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    support, group = cgroups.support.__wrapped__, machine[0] / "user" / "run.scope"
    assert support(*machine) == group
    for file, text, says in (
        ("cgroup.controllers", "cpu pids\n", "no control group of its own"),
        ("cgroup.procs", "1\n", "no control group of its own"),
        ("cgroup.type", None, "no control group of its own"),
        ("cgroup.controllers", None, "not of version 2"),
    ):
        path = group / file
        before = path.read_text()
        path.write_text(text) if text else path.unlink()
        found = support(*machine)
        assert says in str(found)
        assert cgroups.create(found) is None
        path.write_text(before)
    (group / "cgroup.procs").write_text("1\n")
    for place, advised in ((group, True), (group / "none", False)):
        monkeypatch.setattr(cgroups, "SYSTEMD", place)
        assert ("systemd-run" in str(support(*machine))) is advised
    machine[1].write_text("4:memory:/\n")
    assert "not of version 2" in str(support(*machine))


def test_memory_is_limited_beyond_what_was_used_at_first(tmp_path: Path) -> None:
    group = ControlGroup(tmp_path)
    (tmp_path / "memory.current").write_text("1000\n")
    group.limit(memory_bytes=500, tasks=7)
    assert ((tmp_path / "memory.max").read_text(), (tmp_path / "pids.max").read_text()) == ("1500", "7")
    (tmp_path / "memory.current").write_text("1400\n")
    group.limit(memory_bytes=600, tasks=7)
    assert (tmp_path / "memory.max").read_text() == "1600"
    assert (tmp_path / "memory.swap.max").read_text() == "0"


def test_a_command_enters_the_group_before_it_becomes_what_it_is_or_does_not_run(tmp_path: Path) -> None:
    program = [sys.executable, "-c", "import os, sys; print(os.getpid(), sys.argv[1])", "an argument; with $signs"]
    popen = subprocess.Popen(ControlGroup(tmp_path).entered(program), stdout=subprocess.PIPE, text=True)
    said, _ = popen.communicate()
    assert said == f"{popen.pid} an argument; with $signs\n"
    assert (tmp_path / "cgroup.procs").read_text() == "0\n"
    outside = ControlGroup(tmp_path / "gone").entered(program)
    assert subprocess.run(outside, capture_output=True, text=True, check=False).stdout == ""


@pytest.mark.equipment("control groups of version 2", isinstance(cgroups.support(), Path))
def test_a_real_group_holds_a_tree_and_ends_it() -> None:
    where = cgroups.support()
    group = cgroups.create(where)
    assert group
    program = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
    with subprocess.Popen(group.entered(program), stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout
        assert one.stdout.readline() == "up\n"
        group.limit(memory_bytes=64 << 20, tasks=8)
        assert str(one.pid) in (group.folder / "cgroup.procs").read_text().split()
        group.close()
    assert not group.folder.exists()
