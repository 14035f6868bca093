"""`fairclock`: the commands of the lessons and of the grader under one name."""

import shutil
import subprocess
from pathlib import Path

import pytest
from commanding import CommandResult, grader
from installed import ROOT, environment

from grader.commands import staff
from grader.commands.apps import FOR_EVERYONE


def fairclock(folder: Path, *arguments: str, here: Path = ROOT) -> CommandResult:
    done = subprocess.run(
        ["fairclock", *arguments],
        cwd=here, env=environment(folder), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return CommandResult(done.returncode, done.stdout, done.stderr)


def test_the_help_lists_the_lessons_and_each_command_of_the_grader(tmp_path: Path) -> None:
    shown = fairclock(tmp_path, "--help")
    assert shown.code == 0
    for verb in ("lessons", *FOR_EVERYONE, *staff.COMMANDS):
        assert f"\n  {verb} " in shown.out
    assert fairclock(tmp_path).code == 2


def test_a_command_does_what_it_does_in_the_grader(tmp_path: Path) -> None:
    mine, theirs = fairclock(tmp_path, "check", "04"), grader("check", "04")
    assert (mine.code, mine.out) == (theirs.code, theirs.out)


@pytest.mark.parametrize("command", [("lessons", "4"), ("lesson", "autorange")])
def test_a_lesson_is_taken_by_number_or_name_with_its_own_options(command: tuple[str, ...], tmp_path: Path) -> None:
    steps = fairclock(tmp_path, *command, "--list-steps")
    assert steps.code == 0
    assert "block" in steps.out


@pytest.mark.parametrize("command", [("chekc",), ("lessons", "77"), ("check", "--loudly")])
def test_a_wrong_command_line_is_one_sentence_and_exit_code_2(command: tuple[str, ...], tmp_path: Path) -> None:
    ended = fairclock(tmp_path, *command)
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1


def test_in_the_folder_of_a_kit_its_own_exercises_are_checked(tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    kit.mkdir()
    for name in ("grader", "harness"):
        (kit / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "lessons", kit / "lessons")
    shutil.copy(ROOT / "solutions" / "04_autorange.py", kit / "lessons" / "exercises")
    assert "10 / 10" in fairclock(tmp_path, "check", "04", here=kit).out
