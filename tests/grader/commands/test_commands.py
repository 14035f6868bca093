"""Commands with invalid input print one sentence, end with exit code 2, and write or lose no file."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from commanding import CLASS, ROOT, CommandResult, grader, outcomes, rows, tree

CHEAP = "chen/04_autorange.py"
"""A hand-in of the golden class whose grading takes about a second."""


def small_class(folder: Path, *students: str) -> Path:
    """Return a class in which grading each hand-in takes about a second."""
    for student in students or ("chen",):
        (folder / student).mkdir(parents=True)
        text = (CLASS / CHEAP).read_text(encoding="utf-8")
        (folder / student / Path(CHEAP).name).write_text(f"{text}\n# {student}\n", encoding="utf-8")
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
    given: Callable[[Path], list[str | Path]], says: str, tmp_path: Path
) -> None:
    arguments = given(tmp_path)
    before = tree(tmp_path)
    refused(grader("run", *arguments), says)
    assert tree(tmp_path) == before


@pytest.mark.sandbox
def test_out_of_another_class_or_kit_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    folder, other, out = small_class(tmp_path / "class"), small_class(tmp_path / "other"), tmp_path / "grades"
    assert grader("run", folder, "--out", out).code == 0
    before = tree(out)
    refused(grader("run", other, "--out", out), "holds the grades of another class")
    assert tree(out) == before
    with closing(sqlite3.connect(out / "grades.sqlite")) as db, db:
        db.execute("UPDATE meta SET value = '0.0.1' WHERE key = 'kit'")
    refused(grader("run", folder, "--out", out), "was graded with version 0.0.1 of the kit, and version")
    assert len(rows(out, "SELECT * FROM gradings")) == 1


@pytest.mark.sandbox
def test_a_hand_in_that_cannot_be_read_gets_a_verdict_and_the_class_goes_on(tmp_path: Path) -> None:
    folder = small_class(tmp_path / "class", "chen", "zoe")
    (folder / "mia").mkdir()
    (folder / "mia" / "04_autorange.ipynb").write_text("blocked_autorange = None")
    (folder / "noa.zip").write_bytes(b"PK\x03\x04 and then nothing")
    ended = grader("run", folder, "--out", tmp_path / "grades")
    found = {student: next(iter(tasks.values())) for student, tasks in outcomes(tmp_path / "grades").items()}
    assert ended.code == 0
    assert sorted(found) == ["chen", "mia", "noa", "zoe"]
    assert "is not a notebook (it is not JSON)" in found["mia"].rationale
    assert "The zip is damaged" in found["noa"].rationale
    assert found["chen"].status == found["zoe"].status == "WRONG"


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Mount a disk of this size at `folder`. Skip the test if this process may not mount disks."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small disk takes the right to mount one: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.sandbox
@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
def test_a_full_disk_ends_the_run_in_one_sentence_and_room_lets_it_go_on(tmp_path: Path) -> None:
    folder = small_class(tmp_path / "class", "chen", "zoe")
    disk = tmp_path / "disk"
    with small_disk(disk, "4m"):
        padding = disk / "padding"
        out = disk / "grades"
        with padding.open("wb") as file:
            file.write(b"x" * ((4 << 20) - (100 << 10)))
        full = grader("run", folder, "--out", out)
        assert full.code == 2
        assert full.out == ""
        last = full.err.splitlines()[-1]
        assert "could not be written" in last
        assert "Free some disk space" in last
        kept = rows(out, "SELECT student FROM gradings ORDER BY id")
        padding.unlink()
        assert grader("run", folder, "--out", out).code == 0
        students = rows(out, "SELECT student FROM gradings ORDER BY id")
        assert students[: len(kept)] == kept
        assert students == [("chen",), ("zoe",)]


def test_report_wants_the_folder_of_a_run(tmp_path: Path) -> None:
    refused(grader("report", tmp_path), "holds no grades.sqlite. Give the folder that was given to `run` as --out.")


def test_submit_refuses_what_would_be_refused_later(tmp_path: Path) -> None:
    refused(grader("submit", CLASS / "kofi", "--out", tmp_path / "a.zip"), "is not UTF-8 text")
    refused(grader("submit", CLASS / "ivan", "--out", tmp_path / "a.zip"), "only a notebook can run")
    refused(grader("submit", tmp_path, "--out", tmp_path / "a.zip"), "Exercises have names such as")
    refused(grader("submit", tmp_path / "nowhere", "--out", tmp_path / "a.zip"), "There is no folder")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["grade"], ["run"], ["check", "--loudly"], ["run", "class", "--out"]])
def test_a_command_line_that_is_none_is_answered_with_where_to_look(arguments: list[str]) -> None:
    ended = grader(*arguments)
    assert ended.code == 2
    assert "--help" in ended.err or ended.err.startswith("There is no command 'grade'. There are: check, submit, ")


def test_no_command_at_all_is_answered_with_the_help() -> None:
    ended = grader()
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Usage: python -m grader")
    assert len(ended.err.splitlines()) > 10


@pytest.mark.parametrize("verb", ["", "check", "submit", "run", "report", "export", "release", "lint", "doctor"])
def test_every_verb_explains_itself(verb: str) -> None:
    ended = grader(*[verb] * bool(verb), "--help")
    assert ended.code == 0
    assert "Usage: python -m grader" in ended.out


@pytest.mark.parametrize("name", ["grader.commands.apps", "lessons.__main__"])
def test_a_command_waits_for_neither_torch_nor_notebooks_nor_pages_before_it_needs_them(name: str) -> None:
    script = f"import sys; import {name}; assert not {{'torch', 'nbformat', 'jinja2'}} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0
