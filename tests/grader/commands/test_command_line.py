"""All commands have -h and --version, and print a clear error for a mistyped option."""

import platform
import subprocess
import sys
from functools import cache
from importlib import metadata

import pytest
from commanding import ROOT, grader

from grader.commands.apps import run_grader

VERBS = ("check", "submit", "notebook", "doctor", "run", "report", "export", "release", "lint", "calibrate")


@cache
def run(*command: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", *command]
    return subprocess.run(whole, cwd=ROOT, capture_output=True, text=True, check=False)


def test_h_is_help_for_every_verb_of_the_grader(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ((), *((verb,) for verb in VERBS)):
        shown = []
        for option in ("-h", "--help"):
            assert run_grader([*command, option]) == 0
            shown.append(capsys.readouterr().out)
        assert shown[0] == shown[1]
        assert f"Usage: python -m grader {' '.join(command)}" in shown[0]
        assert "-h, --help" in shown[0]


def test_h_is_help_for_lessons_too() -> None:
    for command in (("lessons",), ("lessons", "guide"), ("lessons.04_autorange",)):
        short, whole = (run(*command, option) for option in ("-h", "--help"))
        assert (short.stdout, short.returncode, "-h, --help" in short.stdout) == (whole.stdout, 0, True)


def test_version_names_the_kit_python_and_torch() -> None:
    versions = metadata.version("fairclock"), platform.python_version(), metadata.version("torch")
    for command in ("grader", "lessons"):
        done = run(command, "--version")
        assert (done.returncode, done.stdout) == (0, "fairclock {}, Python {}, torch {}\n".format(*versions))


def test_a_slip_of_the_pen_is_told_the_command_that_is_close() -> None:
    ended = grader("chekc")
    assert ended.code == 2
    assert ended.err.startswith("There is no command 'chekc'. Did you mean check? There are: check, submit, ")


def test_a_lesson_is_taken_by_its_number_or_name_and_one_that_is_not_there_is_one_sentence() -> None:
    for given in ("04", "autorange"):
        assert run("lessons", given, "--list-steps").stdout == run("lessons.04_autorange", "--list-steps").stdout
    for given, says in (("77", "There is no lesson or command '77'."), ("notbooks", "Did you mean notebooks?")):
        done = run("lessons", given)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert says in done.stderr


def test_an_unknown_lesson_is_told_alike_by_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in (("lint",), ("calibrate",), ("notebook",), ("run", "nowhere", "--out", "x", "--lessons")):
        assert run_grader([*verb, "04_autorang3"]) == 2
        assert "There is no exercise '04_autorang3'. Did you mean 04_autorange?" in capsys.readouterr().err
