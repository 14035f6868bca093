"""`fairclock`: all commands under one name, and their completion in bash, zsh and fish."""

import os
import shutil
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
from commanding import ROOT, CommandResult, grader

from grader import catalogue
from grader.commands import options
from grader.commands.apps import FOR_EVERYONE, run_fairclock, staff_commands

SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]


def environment(folder: Path) -> dict[str, str]:
    """Return an environment with the program on PATH and with `folder` as its home."""
    module, _, function = SCRIPTS["fairclock"].partition(":")
    program = folder / "bin" / "fairclock"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        f"from {module} import {function}\nsys.exit({function}())\n"
    )
    program.chmod(0o755)
    return {
        **os.environ,
        "HOME": str(folder),
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "FAIRCLOCK_STATE": str(folder / "state"),
    }


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
    for verb in ("lessons", *FOR_EVERYONE, *staff_commands()):
        assert f"\n  {verb} " in shown.out
    assert fairclock(tmp_path).code == 2


def test_a_command_does_what_it_does_in_the_grader(tmp_path: Path) -> None:
    mine, theirs = fairclock(tmp_path, "check", "04"), grader("check", "04")
    assert (mine.code, mine.out) == (theirs.code, theirs.out)


def test_a_lesson_is_taken_by_number_or_name_with_its_own_options(tmp_path: Path) -> None:
    for command in (("lessons", "4"), ("lesson", "autorange")):
        steps = fairclock(tmp_path, *command, "--list-steps")
        assert (steps.code, "block" in steps.out) == (0, True)


def test_a_wrong_command_line_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    for command in (("chekc",), ("lessons", "77"), ("check", "--loudly")):
        ended = fairclock(tmp_path, *command)
        assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)


def test_in_the_folder_of_a_kit_its_own_exercises_are_checked(tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    kit.mkdir()
    for name in ("grader", "harness"):
        (kit / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "lessons", kit / "lessons")
    shutil.copy(ROOT / "solutions" / "04_autorange.py", kit / "lessons" / "exercises")
    assert "10 / 10" in fairclock(tmp_path, "check", "04", here=kit).out


# -------------------------------------------------------------------------------------------------- completion

LINES = [
    ("fairclock less", ["lessons"]),
    ("fairclock do", ["doctor"]),
    ("fairclock check 04", ["04_autorange"]),
    ("fairclock check --hint 04", ["04_autorange"]),
    ("fairclock check --wa", ["--watch"]),
    ("fairclock lessons 04", ["04_autorange"]),
    ("fairclock notebook 05", ["05_compare"]),
    ("fairclock run hw1 --se", ["--seed-file"]),
    ("fairclock run hw1 --lessons 05", ["05_compare"]),
    ("fairclock run ", []),
]


def test_bash_completes_commands_options_and_lessons(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_FAIRCLOCK_COMPLETE", "complete_bash")
    for line, words in LINES:
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        with suppress(SystemExit):
            run_fairclock([])
        assert capsys.readouterr().out.split() == words, line
    assert tuple(options.lesson_names("")) == catalogue.load().lessons


@pytest.mark.program("bash")
def test_installing_names_the_file_and_the_next_shell_has_it(tmp_path: Path) -> None:
    variables = environment(tmp_path)
    done = subprocess.run(
        ["bash", "--norc", "-c", "fairclock --install-completion; true"],
        env=variables, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "bash completion installed in" in done.stdout
    ask = ["bash", "-c", "source ~/.bashrc; complete -p fairclock"]
    assert (
        "_fairclock_completion" in subprocess.run(ask, env=variables, capture_output=True, text=True, check=True).stdout
    )


def test_the_grader_names_the_command_that_has_completion_now() -> None:
    for option in ("--install-completion", "--show-completion"):
        ended = grader(option)
        assert (ended.code, ended.out, "fairclock --install-completion" in ended.err) == (2, "", True)
