"""`python -m grader doctor`: what is here, what is not, and the command that brings it."""

import shutil
import sys
import sysconfig

import pytest
from commanding import grader

from grader import doctor
from grader.__main__ import app
from grader.isolation import sandbox
from harness.command import guarded

PARTS = (
    "GIL",
    "torch",
    "sandbox",
    "another process's CPU clock",
    "fixed memory layout",
    "cores",
    "valgrind",
    "gcc",
    "g++",
    "noise",
)


def test_every_part_of_the_machine_is_named_with_what_was_found() -> None:
    findings = {finding.part: finding for finding in doctor.examine()}
    assert findings.keys() >= set(PARTS)
    for finding in findings.values():
        assert finding.found
        assert finding.present or finding.fix, f"{finding.part} is missing, and nothing says how to get it"


@pytest.mark.sandbox
def test_every_layer_of_the_sandbox_is_named_and_what_brings_it_where_it_is_missing() -> None:
    findings = {finding.part: finding for finding in doctor.examine()}
    for layer in sandbox.layers():
        assert findings[f"· {layer.name}"].present == layer.active
        assert layer.active or layer.fix


@pytest.mark.sandbox
def test_a_machine_with_all_that_is_needed_can_grade_a_class() -> None:
    ended = grader("doctor")
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "This machine can grade a class."


def test_a_machine_without_a_sandbox_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sandbox, "trouble", lambda: "bubblewrap is missing")
    assert guarded(app, "python -m grader", ["doctor"]) == 2
    said = capsys.readouterr().out
    assert "apt-get install bubblewrap" in said
    assert said.splitlines()[-1] == "This machine cannot grade a class: see above."


def test_a_missing_program_comes_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    valgrind = next(finding for finding in doctor.examine() if finding.part == "valgrind")
    assert not valgrind.present
    assert valgrind.fix == "apt-get install valgrind"
    assert not valgrind.needed


def test_a_free_threaded_build_is_found_and_told_to_grade_with_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {**sysconfig.get_config_vars(), "Py_GIL_DISABLED": 1}
    monkeypatch.setattr(sysconfig, "get_config_var", variables.get)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    gil = next(finding for finding in doctor.examine() if finding.part == "GIL")
    assert not gil.present
    assert not gil.needed
    assert "GIL is off" in gil.found
    assert "usual build" in gil.fix
