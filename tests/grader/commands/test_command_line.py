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


@pytest.mark.parametrize("command", [("lessons",), ("lessons", "guide"), ("lessons.04_autorange",)])
def test_h_is_help_for_lessons_too(command: tuple[str, ...]) -> None:
    short, whole = (run(*command, option) for option in ("-h", "--help"))
    assert (short.stdout, short.returncode) == (whole.stdout, 0)
    assert "-h, --help" in short.stdout


@pytest.mark.parametrize("command", ["grader", "lessons"])
def test_version_names_the_kit_python_and_torch(command: str) -> None:
    done = run(command, "--version")
    assert done.returncode == 0
    versions = metadata.version("fairclock"), platform.python_version(), metadata.version("torch")
    assert done.stdout == "fairclock {}, Python {}, torch {}\n".format(*versions)


def test_version_does_not_import_torch() -> None:
    source = (
        "import sys; from harness.command_line.command import version_line; "
        "version_line(); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=False).returncode == 0


def test_a_slip_of_the_pen_is_told_the_command_that_is_close() -> None:
    ended = grader("chekc")
    assert ended.code == 2
    assert ended.err.startswith("There is no command 'chekc'. Did you mean check? There are: check, submit, ")


@pytest.mark.parametrize("given", ["04", "autorange"])
def test_a_lesson_is_taken_by_its_number_or_name_with_its_own_options(given: str) -> None:
    assert run("lessons", given, "--list-steps").stdout == run("lessons.04_autorange", "--list-steps").stdout


@pytest.mark.parametrize(
    ("given", "says"),
    [("77", "There is no lesson or command '77'."), ("notbooks", "Did you mean notebooks?")],
)
def test_a_lesson_that_is_not_there_is_one_sentence(given: str, says: str) -> None:
    done = run("lessons", given)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "verb", [("lint",), ("calibrate",), ("notebook",), ("run", "nowhere", "--out", "x", "--lessons")]
)
def test_an_unknown_lesson_is_told_alike_by_every_verb(
    verb: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_grader([*verb, "04_autorang3"]) == 2
    assert "There is no exercise '04_autorang3'. Did you mean 04_autorange?" in capsys.readouterr().err
