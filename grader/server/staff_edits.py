"""Changes of the rules and the roster of a served course: staff make them on pages, undo them, and write them back.

The choices of students, such as the attempt that counts, are stored as changes, too.

A change that would make the course file or the roster wrong is refused, and nothing is stored.
"""

import sqlite3
import stat
from collections.abc import Mapping, Sequence
from datetime import datetime

from grader.course.roster import FILE, Person
from grader.errors import UsageError
from grader.files import write_atomically
from grader.server import kept_edits, roster_edits
from grader.server.course_folder import CourseFolder, OpenCourse
from grader.server.edits import Value
from grader.server.kept_edits import EditConflictError

Changes = Mapping[tuple[str, ...], Value | None]
"""New values of settings, or None to remove a setting, by the path of keys."""


class StaleError(UsageError):
    """Staff changed something after the page was loaded on which a person made another change."""


def seen(db: sqlite3.Connection) -> int:
    """Return a number that grows with each change by staff, and with each end of one."""
    of_students = 'path LIKE \'["chosen",%\' OR path LIKE \'["slip_days", "chosen",%\''
    (number,) = db.execute(f"SELECT count(*) + count(ended_utc) FROM edits WHERE NOT ({of_students})").fetchone()  # noqa: S608
    return int(number)


def change(
    course: CourseFolder, opened: OpenCourse, path: Sequence[str], value: Value | None, by: str, at: datetime
) -> int:
    """Change the setting at `path` in the course file to `value`, or remove it (None). Return the change's number.

    A time with an offset is stored in the time zone of the course. Raise `UsageError` if the change is wrong.
    """
    return _make(course, opened, {tuple(path): value}, by, at)


def choose(
    course: CourseFolder, opened: OpenCourse, path: Sequence[str], value: Value, student: str, at: datetime
) -> None:
    """Store what a student chose as the value of the setting at `path`, instead of the earlier choice."""
    earlier = [one.number for one in kept_edits.history(opened.db) if one.path == tuple(path)]
    change(course, opened, path, value, student, at)
    with opened.book.transaction() as db:
        kept_edits.end(db, earlier, kept_edits.UNDONE, student, at)


def change_all(
    course: CourseFolder,
    opened: OpenCourse,
    changes: Changes,
    by: str,
    at: datetime,
    *,
    before: int,
) -> None:
    """Make all of these changes, as `change` does, or none of them.

    `before` is the number that `seen` returned when the person loaded the page. Raise `StaleError` if it differs now.
    """
    _make(course, opened, changes, by, at, before=before)


def add_person(
    course: CourseFolder, opened: OpenCourse, person: Person, by: str, at: datetime, *, before: int | None = None
) -> int:
    """Add a person to the roster. Return the change's number. Raise `UsageError` if the person is on it already.

    `before` is as in `change_all`.
    """
    same = [one for one in opened.book.roster().people if roster_edits.is_same(one, person)]
    if same:
        new = "To add another student, give an id and an e-mail address that no student has."
        raise UsageError(f"{same[0].name} is on the roster already. {new}")
    fields = roster_edits.new_fields(None, person)
    return _make(course, opened, {roster_edits.ADDED: fields}, by, at, before=before)


def change_person(
    course: CourseFolder,
    opened: OpenCourse,
    student: str,
    person: Person | None,
    by: str,
    at: datetime,
    *,
    before: int | None = None,
) -> int:
    """Change a student of the roster to `person`, or remove the student (None). Return the change's number.

    `student` is the name in reports. A removed student's hand-ins and grades are kept. Raise `UsageError` if the change
    is wrong. `before` is as in `change_all`.
    """
    if (old := opened.book.roster().students.get(student)) is None:
        raise UsageError(f"{student} is not on the roster. Load the page again.")
    fields = roster_edits.new_fields(old, person, opened.book.roster().people) if person else None
    return _make(course, opened, {(FILE, *roster_edits.key_of(old)): fields}, by, at, before=before)


def undo(course: CourseFolder, opened: OpenCourse, number: int, by: str, at: datetime) -> None:
    """Undo the change with this number. Raise `UsageError` if it does not hold, or if a later change needs it."""
    try:
        with opened.book.transaction() as db:
            if not kept_edits.end(db, [number], kept_edits.UNDONE, by, at):
                raise UsageError(f"There is no change {number} that can be undone. Load the page again.")
            course.settings(opened)
    except EditConflictError as conflict:
        needs = f"change {conflict.edit.number} (`{conflict.edit}`) would be wrong without it"
        raise UsageError(f"Change {number} was not undone, because {needs}. {conflict.why}") from conflict
    course.refresh(opened)


def write_back(course: CourseFolder, opened: OpenCourse, by: str, at: datetime) -> tuple[str, ...]:
    """Write all changes into the course file and `students.csv`. Return the names of the files that changed.

    Raise `UsageError`, before anything is written, if a file cannot hold a change, and `WriteError` on a full disk.
    """
    of_course, of_roster = kept_edits.holding(opened.db)
    contents = {course.course_file: course.settings(opened).course.text.encode()} if of_course else {}
    if of_roster:
        contents[course.roster_file] = roster_edits.written(course.roster_file, of_roster)
    changed = []
    for path, data in contents.items():
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        changed += [path.name] * write_atomically(path, data, mode=mode)
    with opened.book.transaction() as db:
        kept_edits.end(db, [one.number for one in (*of_course, *of_roster)], kept_edits.WRITTEN, by, at)
    course.refresh(opened)
    return tuple(changed)


def _make(
    course: CourseFolder,
    opened: OpenCourse,
    changes: Changes,
    by: str,
    at: datetime,
    *,
    before: int | None = None,
) -> int:
    """Store the changes, and return the number of the last one."""
    rules, numbers = opened.book.course(), list[int]()
    try:
        with opened.book.transaction() as db:
            if before is not None and before != seen(db):
                raise StaleError("Another person changed the course after you loaded the page, so nothing was stored.")
            for path, value in changes.items():
                given = kept_edits.in_zone(value, rules) if isinstance(value, datetime) else value
                numbers.append(kept_edits.add(db, path, given, by, at))
            course.settings(opened)
    except EditConflictError as conflict:
        if conflict.edit.number not in numbers:  # the file was changed since, and an earlier change does not fit
            raise
        raise UsageError(f"The change was not stored. {conflict.why}") from conflict
    course.refresh(opened)
    return max(numbers, default=0)
