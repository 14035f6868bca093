"""Commands with invalid input print one sentence, end with exit code 2, and write or lose no file."""

import subprocess
import sys
from collections.abc import Callable
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


def empty(tmp_path: Path) -> list[str | Path]:
    (tmp_path / "class").mkdir()
    return [tmp_path / "class", "--out", tmp_path / "grades"]


def of_empty_folders(tmp_path: Path) -> list[str | Path]:
    (tmp_path / "class" / "ada").mkdir(parents=True)
    return [tmp_path / "class", "--out", tmp_path / "grades"]


def nowhere(tmp_path: Path) -> list[str | Path]:
    return [tmp_path / "nowhere", "--out", tmp_path / "grades"]


def a_file(tmp_path: Path) -> list[str | Path]:
    return [CLASS / CHEAP, "--out", tmp_path / "grades"]


def out_inside_the_class(tmp_path: Path) -> list[str | Path]:
    folder = small_class(tmp_path / "class")
    return [folder, "--out", folder / "grades"]


def out_with_other_files(tmp_path: Path) -> list[str | Path]:
    (tmp_path / "grades").mkdir()
    (tmp_path / "grades" / "thesis.tex").write_text("years of work")
    return [small_class(tmp_path / "class"), "--out", tmp_path / "grades"]


def out_that_is_a_file(tmp_path: Path) -> list[str | Path]:
    (tmp_path / "grades").write_text("a list of grades")
    return [small_class(tmp_path / "class"), "--out", tmp_path / "grades"]


def a_lesson_that_does_not_exist(tmp_path: Path) -> list[str | Path]:
    return [small_class(tmp_path / "class"), "--out", tmp_path / "grades", "--lessons", "77_nonsense"]


def names_that_are_nowhere(tmp_path: Path) -> list[str | Path]:
    names: list[str | Path] = ["--leaderboard", "--leaderboard-names", tmp_path / "names.csv"]
    return [small_class(tmp_path / "class"), "--out", tmp_path / "grades", *names]


def no_lanes(tmp_path: Path) -> list[str | Path]:
    return [small_class(tmp_path / "class"), "--out", tmp_path / "grades", "--jobs", "0"]


REFUSED = {
    empty: "contains no hand-in; expected names such as",
    of_empty_folders: "contains no hand-in; expected names such as",
    nowhere: "does not exist; give the folder that contains one folder or zip for each student.",
    a_file: "is a file, not a folder",
    out_inside_the_class: "is in the class folder, so `run` would take it for the folder of a student",
    out_with_other_files: "holds other files (such as thesis.tex) and no journal",
    out_that_is_a_file: "is a file. Give a folder for the grades",
    a_lesson_that_does_not_exist: "There is no exercise '77_nonsense'",
    names_that_are_nowhere: "The names for the leaderboard cannot be read from",
    no_lanes: "--jobs",
}


@pytest.mark.sandbox
@pytest.mark.parametrize(("given", "says"), REFUSED.items(), ids=[given.__name__ for given in REFUSED])
def test_run_refuses_in_one_sentence_and_touches_nothing(
    given: Callable[[Path], list[str | Path]], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = given(tmp_path)
    before = tree(tmp_path)
    refused(said(capsys, "run", *arguments), says)
    assert tree(tmp_path) == before


def test_report_and_submit_name_the_folder_that_they_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(
        said(capsys, "report", tmp_path), "holds no grades.sqlite. Give the folder that was given to `run` as --out."
    )
    for place, says in ((tmp_path, "Exercises have names such as"), (tmp_path / "nowhere", "There is no folder")):
        refused(said(capsys, "submit", place, "--out", tmp_path / "a.zip"), says)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["grade"], ["run"], ["check", "--loudly"], ["run", "class", "--out"]])
def test_a_command_line_that_is_none_is_answered_with_where_to_look(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    ended = said(capsys, *arguments)
    assert ended.code == 2
    assert "--help" in ended.err or ended.err.startswith("There is no command 'grade'. There are: check, submit, ")


def test_no_command_at_all_is_answered_with_the_help() -> None:
    ended = grader()
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Usage: python -m grader")
    assert len(ended.err.splitlines()) > 10


@pytest.mark.parametrize("name", ["grader.commands.apps", "lessons.__main__"])
def test_a_command_waits_for_neither_torch_nor_notebooks_nor_pages_before_it_needs_them(name: str) -> None:
    script = f"import sys; import {name}; assert not {{'torch', 'nbformat', 'jinja2'}} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0
