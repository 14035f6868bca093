"""A course of several weeks: one folder for each week, or one folder that is filled anew, into the same grades."""

import shutil
from pathlib import Path

import pytest
from classroom import hand_in, points, run

from grader.class_run import journal
from harness.errors import UsageError

STUDENTS = ("ada", "bob", "eve")


def table(out: Path) -> dict[str, dict[str, float | None]]:
    with journal.read(out) as book:
        return book.roll().grades()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return the grades of three students in the first week. Bob left a file aside, and eve handed in nothing."""
    for student in STUDENTS[:2]:
        hand_in(tmp_path / "hw1", student, f"right # {student}")
    (tmp_path / "hw1" / "bob" / "notes.txt").write_text("mine")
    (tmp_path / "hw1" / "eve").mkdir()
    run(tmp_path / "hw1", lessons=["01_dot"])
    return tmp_path / "out"


@pytest.mark.parametrize("name", ["hw1", "hw2"])
def test_the_next_week_changes_nothing_of_the_last(name: str, out: Path, tmp_path: Path) -> None:
    with journal.read(out) as book:
        before = book.roll()
    shutil.rmtree(tmp_path / "hw1")
    for student in ("ada", "eve"):
        hand_in(tmp_path / name, student, "right", "02_timer")
    for regrade in ((), ("eve",)):
        summary, _ = run(tmp_path / name, out, lessons=["02_timer"], regrade=regrade)
        assert table(out) == {"ada": {"01_dot": 6.0, "02_timer": 6.0}, "bob": {"01_dot": 6.0}, "eve": {"02_timer": 6.0}}
        after = summary.roll
        assert (after.students, after.lessons) == (STUDENTS, ("01_dot", "02_timer"))
        assert (set(before.left_out) <= set(after.left_out), set(before.notes) <= set(after.notes)) == (True, True)
        assert [one for one in after.reports if one.submission.lesson == "01_dot"] == list(before.reports)


def test_a_file_is_replaced_only_in_its_own_folder(out: Path, tmp_path: Path) -> None:
    hand_in(tmp_path / "hw1b", "ada", "edge")
    hand_in(tmp_path / "hw1b", "bob", "wrong")
    run(tmp_path / "hw1b", out, lessons=["01_dot"], course='attempts = "best"')
    assert points(out) == {"ada": "10", "bob": "6", "eve": ""}
    hand_in(tmp_path / "hw1", "bob", "edge")
    shutil.rmtree(tmp_path / "hw1" / "ada")
    summary, _ = run(tmp_path / "hw1", out, lessons=["01_dot"])
    assert points(out) == {"ada": "10", "bob": "10", "eve": ""}
    assert any("ada" in line and "not in" in line for line in summary.lines())


def test_another_class_is_refused_and_a_moved_folder_or_a_listed_class_is_not(out: Path, tmp_path: Path) -> None:
    (tmp_path / "hw1").rename(tmp_path / "moved")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "moved").rename(tmp_path / "elsewhere" / "hw1")
    hand_in(tmp_path / "elsewhere" / "hw1", "bob", "wrong # again")
    run(tmp_path / "elsewhere" / "hw1", out, lessons=["01_dot"])
    assert points(out) == {"ada": "6", "bob": "0", "eve": ""}, "bob's file was replaced"
    for student in ("max", "mia", "ada"):
        hand_in(tmp_path / "other", student, "right")
    with pytest.raises(UsageError, match="another class: only 1 of the 3 students"):
        run(tmp_path / "other", out, lessons=["01_dot"])
    assert set(table(out)) == {*STUDENTS}
    run(tmp_path / "other", out, lessons=["01_dot"], course='title = "Perf"\nstudents = ["max", "mia", "tom"]')
    with journal.read(out) as book:
        assert (book.roll().title, len(book.roll().students)) == ("Perf", 6)
