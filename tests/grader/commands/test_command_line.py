"""`python -m grader` and `fairclock`: help, versions, completion, and one sentence for each wrong command line."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from commanding import CLASS, ROOT, CommandResult, said, tree

from grader import catalogue
from grader.commands import options
from grader.commands.apps import FOR_EVERYONE, run_fairclock, run_grader, staff_commands
from harness.suite import __main__ as suite
from lessons import __main__ as lessons

CHEAP = "chen/04_autorange.py"
PROGRAM = ROOT / "grader" / "student_kit" / "fairclock"
LINES = [
    ("fairclock less", ["lessons"]),
    ("fairclock check 04", ["04_autorange"]),
    ("fairclock check --wa", ["--watch"]),
    ("fairclock notebook 05", ["05_compare"]),
    ("fairclock run hw1 --se", ["--seed-file"]),
    ("fairclock run ", []),
]
"""Typed lines, and the words that bash completes."""


def run(*words: str, env: dict[str, str] | None = None, here: Path = ROOT) -> CommandResult:
    done = subprocess.run(
        words, cwd=here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return CommandResult(done.returncode, done.stdout, done.stderr)


def environment(folder: Path) -> dict[str, str]:
    """Return an environment with the program `fairclock` on PATH and with `folder` as its home."""
    program = folder / "bin" / "fairclock"
    program.parent.mkdir(parents=True)
    shutil.copy(PROGRAM, program)
    path = os.pathsep.join((str(program.parent), str(Path(sys.executable).parent), os.environ["PATH"]))
    return {**os.environ, "HOME": str(folder), "PATH": path, "FAIRCLOCK_STATE": str(folder / "state")}


def test_h_is_help_for_every_verb_of_the_grader_and_of_the_lessons(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ((), *((verb,) for verb in (*FOR_EVERYONE, *staff_commands()))):
        short, whole = said(capsys, *command, "-h"), said(capsys, *command, "--help")
        assert (short, short.code) == (whole, 0)
        assert f"Usage: python -m grader {' '.join(command)}" in short.out
        assert "-h, --help" in short.out
    for module in (("lessons",), ("lessons", "guide"), ("lessons.04_autorange",)):
        short = run(sys.executable, "-m", *module, "-h")
        assert (short.code, "-h, --help" in short.out) == (0, True)


def test_fairclock_has_all_commands_and_takes_lessons_with_their_own_options(tmp_path: Path) -> None:
    env = environment(tmp_path)
    shown = run("fairclock", "--help", env=env)
    assert (shown.code, "Examples:\n" in shown.out) == (0, True)
    assert {"lessons", *FOR_EVERYONE, *staff_commands()} <= set(re.findall(r"[\w-]+", shown.out))
    steps = run("fairclock", "lessons", "autorange", "--list-steps", env=env)
    assert (steps.code, "block" in steps.out) == (0, True)
    ended = run("fairclock", "lessons", "77", env=env)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)


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


@pytest.mark.parametrize("name", ["grader.commands.apps", "lessons.__main__"])
def test_a_command_waits_for_neither_torch_nor_notebooks_nor_pages_before_it_needs_them(name: str) -> None:
    script = f"import sys; import {name}; assert not {{'torch', 'nbformat', 'jinja2'}} & set(sys.modules)"
    assert run(sys.executable, "-c", script).code == 0


SLIPS = {
    "fairclock chek 4": "There is no command 'chek'. Did you mean check?",
    "fairclock check 4 --hnt": "There is no option --hnt. Did you mean --hint or --hints?",
    "fairclock practise 4 --watch": "It is an option of fairclock check.",
    "fairclock 4 check": "Write a command before the lesson: fairclock check 4",
    "fairclock --hint check 4": "Write options after the command: fairclock check --hint 4",
    "fairclock bisect good --alow 3% bad -- f()": "Unrecognized arguments: --alow",
    "fairclock check 40": "There are: 01_correct_first",
    "fairclock check nowhere/04_autorange.py": "There is no file",
    "fairclock check 4 own_tme": "Did you mean 09_cprofile.own_time?",
    "fairclock run nowhere --out out": "nowhere cannot be read (No such file or directory); give the folder",
    "python -m grader lessons 4": "python -m lessons 4",
    "python -m lessons check 4": "python -m grader check 4",
    "python -m lessons --from 3 4": "python -m lessons 4 --from 3",
    "python -m lessons --pth short": "Did you mean --path?",
    "python -m harness.suite comprae a b": "Did you mean python -m harness.suite compare?",
}
"""Command lines with a slip, and a part of the sentence that leads to the right one."""

PROGRAMS = {"fairclock": run_fairclock, "grader": run_grader, "lessons": lessons.main, "harness.suite": suite.main}


@pytest.mark.parametrize("line", SLIPS)
def test_a_slip_in_a_command_line_leads_to_the_right_one(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = line.removeprefix("python -m ").split()
    code = PROGRAMS[program](arguments)
    refused(CommandResult(code, *capsys.readouterr()), SLIPS[line])


def refused(ended: CommandResult, says: str) -> None:
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1), ended
    assert says in ended.err


STREAMS = {
    '"$@" >&-': (0, 0),
    '"$@" >&- 2>&- <&-': (0, 0),
    '"$@" 2>/dev/full': (0, 0),
    '"$@" >/dev/full': (2, 1),
    '"$@" >/dev/full 2>&1': (2, 0),
    '"$@" | true': (0, 0),
    'mkdir gone && cd gone && rmdir ../gone && "$@"': (0, 0),
}
"""Ways to start a command, with its exit code and the number of sentences on standard error."""


@pytest.mark.program("bash")
@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.long)])
@pytest.mark.parametrize("how", STREAMS)
def test_closed_streams_and_lost_folders_are_no_internal_errors(how: str, unbuffered: str, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered, "PYTHONPATH": str(ROOT)}
    words = (sys.executable, "-m", "grader", "notebook", "4", "--out", str(tmp_path / "four.ipynb"))
    ended = run("bash", "-c", how, "bash", *words, env=env, here=tmp_path)
    assert (ended.code, ended.err.count("\n")) == STREAMS[how], ended.err
    assert "nternal error" not in ended.err
    assert (tmp_path / "four.ipynb").exists(), "the work is done all the same"


@pytest.mark.sandbox
def test_run_refuses_in_one_sentence_and_touches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, taken, home = tmp_path / "class", tmp_path / "grades.txt", tmp_path / "home"
    for place in (folder / "chen", home, tmp_path / "empty" / "ada", tmp_path / "broken"):
        place.mkdir(parents=True)
    (folder / CHEAP).write_bytes((CLASS / CHEAP).read_bytes())
    taken.write_text("a list of grades")
    (home / "thesis.tex").write_text("years of work")
    (tmp_path / "broken" / "grades.sqlite").write_text("no database, but long enough to be looked at" * 99)
    before = tree(tmp_path)
    out = ("--out", tmp_path / "grades")
    for arguments, says in (
        ((tmp_path / "empty", *out), "contains no hand-in; expected names such as"),
        ((tmp_path / "nowhere", *out), "(No such file or directory); give the folder that contains one folder or zip"),
        ((folder, "--out", folder / "grades"), "is in the class folder, so `run` would take it for the folder of a"),
        ((folder, "--out", home), "holds other files (such as thesis.tex) and no journal"),
        ((folder, "--out", tmp_path / "broken"), "cannot be used as a journal (file is not a database)"),
        ((folder, "--out", taken), "is a file. Give a folder for the grades"),
        ((folder, *out, "--lessons", "04_autorang3"), "There is no exercise '04_autorang3'. Did you mean 04_autorange"),
        ((folder, *out, "--jobs", "0"), "--jobs"),
    ):
        refused(said(capsys, "run", *arguments), says)
    assert tree(tmp_path) == before
