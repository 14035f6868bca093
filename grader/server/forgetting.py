"""Delete all data on one student from the folder of a course, when this student asks for it."""

import json
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from grader import reports
from grader.class_run import database, hand_grading, students_csv, summary
from grader.course.course_file import MAX_BYTES
from grader.course.roll import folder_name
from grader.course.roster import Roster
from grader.errors import UsageError
from grader.files import read_text_file, write_atomically
from grader.reports import grade_texts
from grader.server import forgotten_rows, intake
from grader.server.course_folder import CourseFolder, OpenCourse
from grader.server.forgotten_rows import ForgottenStudent

Grades = Mapping[str, Mapping[str, float | None]]

_EXPORTS: Final = ("_feedback", "canvas-feedback.zip", "moodle-feedback.zip")
"""What `return` writes into the output folder."""


def forget(path: Path, student: str) -> tuple[str, ...]:
    """Delete all data on a student from the course in the folder `path`, and return lines on what was done.

    `student` can be a name, number or address. Raise `UsageError` while the server runs, and for an unknown student.
    """
    course = CourseFolder(path)
    with course.opened() as opened, database.lock(course.grades):
        name, roster = hand_grading.student_of(opened.book, student), opened.book.roster()
        everyone = frozenset((*opened.book.students(), *opened.book.course().students, *roster.students))
        who = ForgottenStudent(name, roster, everyone)
        before = opened.book.roll().grades()
        opened.db.execute("PRAGMA secure_delete = ON")  # SQLite overwrites what it deletes
        folders = _delete_files(course, opened, who)
        with opened.book.transaction() as db:
            deleted = forgotten_rows.delete(db, who, folders)
        _change_files(course, who)
        _change_meta(opened, who)
        lines = [f"Deleted all data on {name}: {deleted}.", *_written_again(course, opened)]
        lines += _lost(before, opened.book.roll().grades())
        opened.db.execute("VACUUM")
        opened.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (*lines, *_left(course, who), "Backups and files outside this folder still have the data. Delete them, too.")


def _delete_files(course: CourseFolder, opened: OpenCourse, who: ForgottenStudent) -> set[str]:
    """Delete the student's hand-ins and page. Return the names of the student's own folders below `hand-ins`."""
    query = """SELECT path, student FROM hand_ins WHERE folder = ?1 UNION SELECT path, student FROM receipts
        UNION SELECT path, student FROM left_out WHERE folder = ?1 AND student <> ''"""
    found = opened.db.execute(query, [str(course.hand_ins.resolve())]).fetchall()
    others = {path for path, student in found if student != who.name}
    own = {path for path, student in found if student == who.name} - others
    shared = {PurePosixPath(path).parts[0] for path in others}
    folders = {PurePosixPath(path).parts[0] for path in own} | {intake.label(who.roster, who.name)}
    for path in own:
        _delete(course.hand_ins / path)  # also in a folder that others share
    for place in (*(course.hand_ins / one for one in folders - shared), course.grades / folder_name(who.name)):
        _delete(place)
    return folders - shared


def _delete(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    elif place.parent.is_dir():
        place.unlink(missing_ok=True)


def _change_files(course: CourseFolder, who: ForgottenStudent) -> None:
    """Remove the student from the course file and the list of students."""
    text = read_text_file(course.course_file, MAX_BYTES, "The course file")
    _replace(course.course_file, forgotten_rows.without(text, who).encode())
    if not course.roster_file.is_file():
        return
    listed = students_csv.parse(course.roster_file.read_bytes(), str(course.roster_file))
    gone = [at for at, one in listed.people.items() if any(map(who.has, filter(None, (one.id, one.email, one.name))))]
    if len(gone) == len(listed.people):
        course.roster_file.unlink()  # a list without students is not valid
        return
    for row in sorted((row for at in gone for row in listed.rows[at]), reverse=True):
        listed.file.remove(row)
    _replace(course.roster_file, listed.file.data)


def _replace(path: Path, data: bytes) -> None:
    write_atomically(path, data, mode=stat.S_IMODE(path.stat().st_mode))


def _change_meta(opened: OpenCourse, who: ForgottenStudent) -> None:
    """Remove the student from the rules and the roster in the journal, also if the course file is wrong now."""
    meta, book = opened.book.meta, opened.book
    people = tuple(one for name, one in who.roster.students.items() if name != who.name)
    pages = [one for one in json.loads(meta.get("pages", "[]")) if one != folder_name(who.name)]
    book.keep({"course": forgotten_rows.without(meta.get("course", ""), who), "pages": json.dumps(pages)})
    book.keep({"roster": Roster(people).text})


def _written_again(course: CourseFolder, opened: OpenCourse) -> Iterator[str]:
    """Write the reports of the class again, if there are any, and yield what went wrong."""
    for name in _EXPORTS:
        _delete(course.grades / name)
    try:
        course.refresh(opened)
    except UsageError as error:
        yield f"The course needs a correction before it can be served again: {error}"
    if (course.grades / reports.PAGE).exists():
        yield from summary.publish(opened.book)[1].lines()


def _lost(before: Grades, now: Grades) -> Iterator[str]:
    """Yield a line for each student whose points came from a hand-in of the forgotten student, as in a team."""
    for student, points in now.items():
        for lesson, old in before.get(student, {}).items():
            if old is not None and points.get(lesson) != old:
                had = f"{student} had {grade_texts.points(old)} points for {lesson} by a hand-in of this student"
                yield f"{had}. To keep these points, give them by hand."


def _left(course: CourseFolder, who: ForgottenStudent) -> Iterator[str]:
    """Yield a line for each file of the course in which a name of the student is left, such as in a comment."""
    for path in sorted(course.path.rglob("*")):
        if path.is_file() and who.is_in(path.read_bytes().decode("utf-8", "replace")):
            yield f"{path} still has a name of the student. Look at it, and remove the name by hand."
