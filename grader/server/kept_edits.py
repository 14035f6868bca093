"""The rules of a course that hold now: the course file and the roster, with the changes that staff made on pages.

The changes are in the table `edits`. Nothing is removed from it: a change that was undone, or written into its file,
keeps its row.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from grader.class_run.journal import Journal
from grader.course.course_file import MAX_BYTES, Course, parse
from grader.course.dates import LocalTime
from grader.course.entries import load
from grader.course.named_students import for_class
from grader.course.roster import Roster, student_named
from grader.errors import UsageError
from grader.files import read_text_file
from grader.server import edits, roster_edits
from grader.server.edits import Edit, Value

Read = TypeVar("Read")
HOLDS, UNDONE, WRITTEN = "holds", "undone", "written"
"""The states of a change."""

_HISTORY: Final = "SELECT path, value, by, at_utc, state, id FROM edits ORDER BY id"


class EditConflictError(UsageError):
    """A change of staff does not fit a file any more. `why` is what is wrong with the change."""

    def __init__(self, edit: Edit, why: str) -> None:
        self.edit, self.why = edit, why
        made = f"change {edit.number} (`{edit}`, by {edit.by} on {edit.at:%Y-%m-%d %H:%M} UTC)"
        super().__init__(f"The files of the course and {made} do not fit together. {why} Undo it, or correct the file.")


@dataclass(frozen=True, slots=True)
class Settings:
    """The rules and the students of a course that hold now. `course.text` has the changes of the course file."""

    course: Course
    roster: Roster


def history(db: sqlite3.Connection) -> tuple[Edit, ...]:
    """Return all changes, the oldest first."""
    return tuple(
        Edit(tuple(json.loads(path)), value, by, datetime.fromisoformat(at), state, number)
        for path, value, by, at, state, number in db.execute(_HISTORY)
    )


def holding(db: sqlite3.Connection) -> tuple[tuple[Edit, ...], tuple[Edit, ...]]:
    """Return the changes of the course file and those of the roster that hold and are in no file yet."""
    made = [one for one in history(db) if one.state == HOLDS]
    of_roster = tuple(filter(roster_edits.is_of_roster, made))
    return tuple(one for one in made if one not in of_roster), of_roster


def settings(db: sqlite3.Connection, book: Journal, file: Path, roster_file: Path, lessons: Sequence[str]) -> Settings:
    """Return the rules and the students that hold now, from the files and the changes.

    Raise `UsageError` if a file is wrong, and `EditConflictError` if a change does not fit its file any more.
    """
    of_course, of_roster = holding(db)
    roster = _fitting(lambda number: roster_edits.read(roster_file, of_roster[:number]), of_roster)
    name, text, present = str(file), read_text_file(file, MAX_BYTES, "The course file"), book.students()
    load(text, name)

    @cache
    def meant(given: str) -> str:
        try:
            return student_named(given, {*present, *roster.students}, roster)
        except UsageError:
            return edits.plain(given)

    def rules(number: int) -> Course:
        course = parse(edits.applied(text, of_course[:number], meant), name, lessons)
        if course.students and roster.people:
            raise UsageError(f"The students are listed twice: in {name} and in {roster_file}. Remove one of the lists.")
        for_class(course, present, roster, name)
        return course

    return Settings(_fitting(rules, of_course), roster)


def _fitting(read: Callable[[int], Read], made: Sequence[Edit]) -> Read:
    """Return what `read` returns with all changes.

    `read` gets the number of changes to apply. If it raises `UsageError`, raise `EditConflictError` with the last
    change that made a right file wrong, or the error itself if the file is wrong without any change.
    """
    try:
        return read(len(made))
    except UsageError as error:
        latest = error
    for number in reversed(range(len(made))):
        try:
            read(number)
        except UsageError as error:
            latest = error
        else:
            raise EditConflictError(made[number], str(latest)) from latest
    raise latest


def add(db: sqlite3.Connection, path: Sequence[str], value: Value | None, by: str, at: datetime) -> int:
    """Store a change, and return its number."""
    row = (json.dumps([*path]), edits.spelled_value(value), by, at.astimezone(UTC).isoformat())
    return db.execute("INSERT INTO edits (path, value, by, at_utc) VALUES (?, ?, ?, ?)", row).lastrowid or 0


def end(db: sqlite3.Connection, numbers: Sequence[int], state: str, by: str, at: datetime) -> int:
    """Give the changes with these numbers that hold the state `UNDONE` or `WRITTEN`. Return their number."""
    change = "UPDATE edits SET state = ?, ended_by = ?, ended_utc = ? WHERE id = ? AND state = ?"
    rows = [(state, by, at.astimezone(UTC).isoformat(), number, HOLDS) for number in numbers]
    return db.executemany(change, rows).rowcount if rows else 0


def in_zone(at: datetime, course: Course) -> datetime:
    """Return a moment as the course file of `course` writes it: as a local time if this is clear, else with an offset.

    A time without an offset is a local time of the course already.
    """
    if course.zone is UTC:  # the file may have no time zone, so times need an offset
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    if at.tzinfo is None:
        return at
    wall = LocalTime.at_utc(at, course.zone).wall
    return wall if LocalTime.at_wall(wall, course.zone).utc == at else at.astimezone(course.zone)
