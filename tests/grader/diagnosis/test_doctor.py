"""`python -m grader doctor` on machines with planted faults: each fault is found, and its fix is right.

The faults are real where possible: the command runs in a container like Docker's.
`test_sandbox_problems` and `test_diagnosis` plant the other faults as facts about a machine.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from container import DOCKER, container

from grader import paths
from grader.commands.apps import run_grader
from grader.commands.student import PART_WIDTH
from grader.diagnosis import doctor
from grader.diagnosis.machine import HealthCheck
from grader.isolation import sandbox, sandbox_problems
from harness.machine import programs

PARTS = (
    "GIL; torch; sandbox; another process's CPU clock; fixed memory layout; cores; temporary files; compiled code; "
    "progress; locks on cores; valgrind; gcc; g++; Python.h; free-threaded Python; Jupyter; noise"
)


@pytest.mark.sandbox
def test_every_part_of_the_machine_is_named_with_what_was_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = [*doctor.for_students(), *doctor.for_a_class()]
    assert {one.part for one in here} >= {*PARTS.split("; "), *(f"· {layer.name}" for layer in sandbox.layers())}
    assert all(one.found and len(one.part) <= PART_WIDTH for one in here)
    monkeypatch.setattr(doctor, "for_students", lambda: here)
    monkeypatch.setattr(doctor, "for_a_class", lambda: ())
    assert run_grader(["doctor"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n{'✓' if one.works else '–'} {one.part} " in f"\n{said}" for one in here)
    assert said.splitlines()[-1] == "This machine can grade a class."


def test_a_machine_without_a_sandbox_cannot_grade_and_reads_the_fix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sandbox, "problem", lambda: sandbox_problems.NOT_INSTALLED)
    fine, lacking = (HealthCheck("valgrind", "found", fix) for fix in ("", "install it"))
    monkeypatch.setattr(doctor, "for_students", lambda: [lacking])
    monkeypatch.setattr(doctor, "for_a_class", doctor._sandbox)
    assert run_grader(["doctor"]) == 2
    said = capsys.readouterr().out
    assert programs.BUBBLEWRAP in said
    assert said.splitlines()[-1] == "This machine cannot grade a class. See the list above."
    monkeypatch.setattr(paths, "SOLUTIONS", Path("none"))
    for part, says in ((lacking, "You can take the lessons and"), (fine, "You can take every lesson and check")):
        monkeypatch.setattr(doctor, "for_students", lambda part=part: [part])
        assert run_grader(["doctor"]) == 0, "a student's machine need not grade a class"
        assert capsys.readouterr().out.splitlines()[-1].startswith(says)


UNCONFINED = (
    f"docker run {' '.join(f'--security-opt {one}=unconfined' for one in ('seccomp', 'apparmor', 'systempaths'))}"
)
ASK = """
import json
from grader.diagnosis import machine
from grader.isolation import bubblewrap, sandbox
layout = machine.layout()
faults = {"bwrap": bubblewrap.problem(), "sandbox": sandbox.problem(), "layout": None if layout.works else layout}
print(json.dumps({name: [fault.found, fault.fix] for name, fault in faults.items() if fault}))
"""


def obstacles(command: Sequence[str]) -> dict[str, list[str]]:
    """Return what lacks when another command runs the doctor: each fault and its fix."""
    whole = [*command, sys.executable, "-c", ASK]
    done = subprocess.run(whole, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said: dict[str, list[str]] = json.loads(done.stdout)
    return said


@pytest.mark.long
@pytest.mark.sandbox
def test_each_container_is_told_its_own_options_and_one_with_these_options_has_all() -> None:
    for kind, found, fix in (
        ("docker", "this Docker container forbids new namespaces", UNCONFINED),
        ("covered", "this Docker container covers parts of /proc", "systempaths=unconfined"),
        ("no mounts", "this Docker container forbids mounts", "apparmor=unconfined"),
    ):
        told = obstacles(container(kind, [], DOCKER))["bwrap"]
        assert found in told[0]
        assert fix in told[1]
        assert "install" not in told[1]
    if os.geteuid():
        pytest.skip("another user cannot make a container with root's rights")
    assert obstacles(container("unconfined", [])) == {}
    said = obstacles(container("old docker", []))
    assert "the sandbox without namespaces does not work either (this container forbids Landlock)" in said["sandbox"][0]
    assert "update Docker" in said["sandbox"][1]
    assert "personality" in said["layout"][0]
    assert "--security-opt seccomp=unconfined" in said["layout"][1]
