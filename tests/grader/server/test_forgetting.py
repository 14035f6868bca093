"""All data on a student is deleted on request: from files, from the database with its free pages, and from lists."""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import served_course
from served_course import Served

from grader.class_run import database, journal, summary
from grader.course.by_hand import HandEntry
from grader.course.roster import FILE, Person
from grader.errors import UsageError
from grader.server import forgetting, intake, kept_edits, staff_edits

pytestmark = pytest.mark.long

KEEP = "To keep these points, give them by hand."
NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
NAME, NEW_NAME, ID, MAIL = "Zoë Quìll & <b>", "Zoë O'Quîll", "990077", "zq@uni.example"
MARK = "secret_thoughts_of_hers"
COURSE = f"""{served_course.COURSE}
[extensions]
"{NAME}".all = "2 days"
"José García".all = "3 days"   # his own
[sections.tuesday]
students = ["{MAIL}", "Ren Ota"]
[teams.red]
students = ["{ID}", "Ren Ota"]
lessons = ["05_compare"]
[teams.alone]
students = ["{NAME}"]
lessons = ["04_autorange"]
"""
STUDENTS = (
    f"id,name,email,section,other_names,phone\n700123,Ren Ota,ren@uni.example,tuesday,,0\n{ID},{NAME},{MAIL},,,'17\n"
)
STUDENTS += "700124,José García,jose@uni.example,,,'18\n"


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Served]:
    """Return a course in which the student to forget did, and was given, everything that leaves data."""
    one = served_course.serve(tmp_path, COURSE, STUDENTS)
    for student, text in ((NAME, "right shared"), ("José García", "right shared"), ("Ren Ota", "half mine")):
        one.hand_in(student, text)
    one.hand_in(NAME, f"right {MARK}", "05_compare.py")
    one.hand_in(NAME, f"{MARK}", "notes about me.txt")
    one.hand_in(NAME, f"half {MARK} again")
    one.grade()
    with one.course.opened() as opened:
        db, book = opened.db, opened.book
        for student in (NAME, "José García"):
            book.give(HandEntry(student, "", None, f"a comment for {student}", "grace", NOW))
        staff_edits.change(one.course, opened, ("extensions", NAME, "05_compare"), date(2127, 1, 1), "grace", NOW)
        monday = ("sections", "monday", "students")
        staff_edits.change(one.course, opened, monday, [NAME, "José García"], "grace", NOW)
        staff_edits.undo(one.course, opened, 1, "grace", NOW)
        columns = "INSERT INTO {} VALUES (NULL, 'grace', ?, ?, ?)"
        db.execute(columns.format("staff_actions"), [f"Looked at {NAME}.", "", NOW.isoformat()])
        db.execute("INSERT INTO requests (student, lesson, sentence, at_utc) VALUES (?, ?, ?, ?)", [NAME, "", MARK, ""])
        person = book.roster().students[NAME]
        staff_edits.change_person(one.course, opened, NAME, replace(person, name=NEW_NAME), "grace", NOW)
        summary.publish(book)
    yield one
    one.close()


def _traces(folder: Path) -> list[str]:
    """Return the files below a folder whose names or bytes have a trace of the student, in any usual spelling."""
    texts = [NAME, NEW_NAME, ID, MAIL, MARK, "&lt;b&gt;", "Quill", "quill", "a comment for Zo"]
    spelled = {form for text in texts for form in (text, json.dumps(text)[1:-1], unicodedata.normalize("NFD", text))}
    raw = [one.encode() for one in spelled]
    files = [path for path in folder.rglob("*") if path.is_file() or path.is_dir()]
    named = [str(path) for path in files if any(one in str(path.relative_to(folder)) for one in spelled)]
    return named + [str(path) for path in files if path.is_file() and any(one in path.read_bytes() for one in raw)]


@pytest.mark.parametrize("named", [NEW_NAME, MAIL])
def test_nothing_on_a_forgotten_student_is_left_and_the_others_keep_all(course: Served, named: str) -> None:
    path = course.course.path
    assert {Path(one).name for one in _traces(path)} >= {"course.toml", FILE, "grades.sqlite", "report.html"}
    with course.course.opened() as opened:
        before = {name: opened.book.roll(name) for name in ("José García", "Ren Ota")}
    lines = forgetting.forget(path, named)
    assert lines[0] == f"Deleted all data on {NEW_NAME}: 3 attempts and 4 receipts."
    assert lines[1:-1] == (f"Ren Ota had 20 points for 05_compare by a hand-in of this student. {KEEP}",)
    assert _traces(path) == []
    with course.course.opened() as opened:
        for name, was in before.items():
            now = opened.book.roll(name)
            kept = was.only(["04_autorange"]) if name == "Ren Ota" else was  # the rest was by the team
            for part in ("students", "reports", "standings", "spans", "waiting", "left_out", "by_hand"):
                assert getattr(now, part) == getattr(kept, part), part
            for receipt in intake.receipts(opened.db, name):
                assert (course.course.hand_ins / receipt.path).is_file()
        assert opened.book.students() == ("José García", "Ren Ota")
        assert opened.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        rules = opened.book.course()
        assert {team: of.students for team, of in rules.teams.items()} == {"red": ("Ren Ota",)}
        assert [rules.sections[one][0] for one in ("tuesday", "monday")] == [{"Ren Ota"}, {"José García"}]
        assert [one.path for one in kept_edits.history(opened.db)] == [("sections", "monday", "students")]
    text = course.course.course_file.read_text(encoding="utf-8")
    assert '"José García".all = "3 days"   # his own' in text
    assert course.course.roster_file.read_text(encoding="utf-8") == re.sub(f"{ID}.*\n", "", STUDENTS)
    course.course.prepare()
    with pytest.raises(UsageError, match="There is no student"):
        forgetting.forget(path, named)


def test_a_student_is_not_forgotten_while_the_server_runs(course: Served) -> None:
    with database.lock(course.course.grades, shared=True), pytest.raises(UsageError, match="Another run or server"):
        forgetting.forget(course.course.path, NEW_NAME)
    with journal.read(course.course.grades) as book:
        assert NEW_NAME in book.students()


def test_a_name_in_a_comment_is_reported_and_a_namesake_is_kept(course: Served) -> None:
    with course.course.opened() as opened:
        staff_edits.add_person(course.course, opened, Person("Ren Ota", "5", "ren2@uni.example"), "grace", NOW)
    file = course.course.course_file
    file.write_text(file.read_text(encoding="utf-8").replace('"Ren Ota"', '"700123"') + "# ren@uni.example was ill\n")
    lines = forgetting.forget(course.course.path, "700123")
    assert [one for one in lines if one.startswith(str(file))] == [
        f"{file} still has a name of the student. Look at it, and remove the name by hand."
    ]
    with course.course.opened() as opened:
        assert [*opened.book.roster().students] == [NEW_NAME, "José García", "Ren Ota"]
        assert opened.book.roster().students["Ren Ota"].id == "5"
