from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from classroom import CALL, DOT, hand_in, run

from grader.class_run import journal
from grader.course.by_hand import HandEntry
from grader.course.roster import Person, Roster

COURSE = """
attempts = "best"
drop_lowest = 1
students = ["ivy"]
[late]
percent_per_day = 10
[lessons]
01_dot = { due = 2026-05-04T12:00:00Z, weight = 2 }
[extensions.ada]
all = "2 days"
[struck.bob]
02_timer = ["3fa1c0de"]
"""
NAMES = ("ada", "bob", "Zoë", 'eve "<b>', "o'hara", "dan")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder, late = tmp_path / "hw1", "2026-05-05T12-00-00"
    for student in NAMES[:-1]:
        hand_in(folder, student, "wrong" if student == "ada" else "right")
        hand_in(folder / student, late, f"right {student}")
        hand_in(folder, student, "boom" if student == "bob" else f"right {student}", "02_timer")
    (folder / "ada" / "hw2.py").write_text("right")
    (folder / "dan").mkdir()
    run(folder, course=COURSE)
    with journal.change(tmp_path / "out") as book:
        for student, task, points in (("ada", DOT, 3.0), ("ada", CALL, None), ("Zoë", CALL, 1.0), ("fay", DOT, 2.0)):
            book.give(HandEntry(student, task, points, "why", "grace", datetime(2026, 6, 1, tzinfo=UTC)))
    return tmp_path / "out"


def test_one_student_is_read_as_the_class_holds_the_student(out: Path) -> None:
    with journal.change(out) as book:
        for roster in ("", Roster((Person("Ada L", other_names=("ada",)), Person("bob"), Person("Gus"))).text):
            book.keep({"roster": roster})
            whole = book.roll()
            assert {"ivy", "fay", *NAMES[1:]} < {*whole.students}
            for student, alone in whole.one_by_one():
                own = book.roll(student)
                assert replace(own, at=None, commands=whole.commands) == replace(alone, at=None)
            assert book.roll("nobody").students == ()


def test_what_waits_for_a_grade_is_found_without_reading_the_class(out: Path) -> None:
    with journal.change(out) as book:
        assert [one.student for one in book.waiting()] == ["bob"]  # whose grading failed
        with book.transaction() as db:
            db.execute("DELETE FROM verdicts WHERE grading % 2")
            db.execute("DELETE FROM gradings WHERE id % 2")
            db.execute("UPDATE gradings SET faulted = 1 WHERE id % 4 = 0")
        waiting = [hand_in for one in book.waiting() for hand_in in one.needed]
        assert len(waiting) > 3
        assert waiting == [hand_in for one in book.student_lessons() for hand_in in one.needed]
