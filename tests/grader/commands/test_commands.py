"""Commands with invalid input print one sentence, end with exit code 2, and write or lose no file."""

import subprocess
import sys
from pathlib import Path

import pytest
from commanding import CLASS, ROOT, CommandResult, grader, said, tree

CHEAP = "chen/04_autorange.py"


def small_class(folder: Path) -> Path:
    (folder / "chen").mkdir(parents=True)
    (folder / CHEAP).write_bytes((CLASS / CHEAP).read_bytes())
    return folder


def refused(ended: CommandResult, says: str) -> None:
    assert ended.code == 2
    assert ended.out == ""
    assert says in ended.err
    assert len(ended.err.splitlines()) == 1, ended.err


@pytest.mark.sandbox
def test_run_refuses_in_one_sentence_and_touches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, taken, home = small_class(tmp_path / "class"), tmp_path / "grades.txt", tmp_path / "home"
    (tmp_path / "empty" / "ada").mkdir(parents=True)
    taken.write_text("a list of grades")
    home.mkdir()
    (home / "thesis.tex").write_text("years of work")
    before = tree(tmp_path)
    out = ("--out", tmp_path / "grades")
    for arguments, says in (
        ((tmp_path / "empty", *out), "contains no hand-in; expected names such as"),
        (
            (tmp_path / "nowhere", *out),
            "(No such file or directory); give the folder that contains one folder or zip for each",
        ),
        ((CLASS / CHEAP, *out), "(Not a directory)"),
        ((folder, "--out", folder / "grades"), "is in the class folder, so `run` would take it for the folder of a"),
        ((folder, "--out", home), "holds other files (such as thesis.tex) and no journal"),
        ((folder, "--out", taken), "is a file. Give a folder for the grades"),
        ((folder, *out, "--lessons", "77_nonsense"), "There is no exercise '77_nonsense'"),
        (
            (folder, *out, "--leaderboard", "--leaderboard-names", tmp_path / "names.csv"),
            "The names for the leaderboard cannot be read from",
        ),
        ((folder, *out, "--jobs", "0"), "--jobs"),
    ):
        refused(said(capsys, "run", *arguments), says)
    assert tree(tmp_path) == before


def test_report_and_submit_name_the_folder_that_they_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(
        said(capsys, "report", tmp_path), "holds no grades.sqlite. Give the folder that was given to `run` as --out."
    )
    for place, says in ((tmp_path, "Exercises have names such as"), (tmp_path / "nowhere", "There is no folder")):
        refused(said(capsys, "submit", place, "--out", tmp_path / "a.zip"), says)
    assert not list(tmp_path.iterdir())


def test_a_command_line_that_is_none_is_answered_with_where_to_look(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["run"], ["check", "--loudly"], ["run", "class", "--out"]):
        ended = said(capsys, *arguments)
        assert (ended.code, "--help" in ended.err) == (2, True)
    ended = grader()
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Usage: python -m grader")
    assert len(ended.err.splitlines()) > 10


@pytest.mark.parametrize("name", ["grader.commands.apps", "lessons.__main__"])
def test_a_command_waits_for_neither_torch_nor_notebooks_nor_pages_before_it_needs_them(name: str) -> None:
    script = f"import sys; import {name}; assert not {{'torch', 'nbformat', 'jinja2'}} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0
