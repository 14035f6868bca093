"""Delete a student from the tables of the database, and from the text of the course file."""

import re
import sqlite3
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, Final

from grader.class_run import senders
from grader.course.people import fold
from grader.course.roster import Person, Roster, student_named
from grader.errors import UsageError
from grader.server import edits, kept_edits, roster_edits
from grader.server.edits import Edit
from harness.rendering import units

_OF_STUDENT: Final = ("hand_ins", "left_out", "by_hand", "receipts", "requests", "staff_actions")
"""The tables whose column `student` has the student to whom a row belongs."""

_UNUSED: Final = "(lesson, content) NOT IN (SELECT lesson, content FROM hand_ins)"


@dataclass(frozen=True)
class ForgottenStudent:
    """The student to forget, by the name in reports. `everyone` are all students of the course."""

    name: str
    roster: Roster
    everyone: frozenset[str]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """All names, numbers and addresses of the student that mean no other student."""
        person = self.roster.students.get(self.name, Person(self.name))
        given = [one.identity(name) for name, one in self.roster.students.items() if name != self.name]
        others = {fold(text) for one in given for text in (*one.ids, *one.names)}
        own = dict.fromkeys((self.name, person.name, person.id, person.email, *person.other_names))
        return tuple(one for one in own if one and fold(one) not in others)

    def has(self, text: str) -> bool:
        """Return whether a text is one of the student's names, numbers and addresses."""
        return fold(text) in map(fold, self.texts)

    def is_meant(self, text: str) -> bool:
        """Return whether a name, number or address in the course file means the student."""
        try:
            return student_named(text, self.everyone, self.roster) == self.name
        except UsageError:
            return self.has(text)

    def is_in(self, text: str) -> bool:
        """Return whether a text contains one of the student's names, numbers and addresses."""
        return any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) for one in self.texts)


def delete(db: sqlite3.Connection, who: ForgottenStudent, folders: Collection[str]) -> str:
    """Delete the rows on a student in all tables, and return the numbers of attempts and receipts as text.

    `folders` are the student's own folders in the class folder. A grade that another student shares is kept.
    """
    deleted = {}
    for table in _OF_STUDENT:
        deleted[table] = db.execute(f"DELETE FROM {table} WHERE student = ?", [who.name]).rowcount  # noqa: S608
    db.execute("DELETE FROM students WHERE name = ?", [who.name])
    db.execute("DELETE FROM tokens WHERE person = ? AND NOT is_staff", [who.name])
    db.create_function("is_own", 1, lambda path: any(one in folders for one in PurePosixPath(path).parts[:1]))
    db.execute("DELETE FROM left_out WHERE student = '' AND is_own(path)")
    db.create_function("names_student", 1, who.is_in)
    db.execute("DELETE FROM notes WHERE names_student(note)")
    db.execute("DELETE FROM staff_actions WHERE names_student(what)")
    for one in senders.everyone(db):
        if who.roster.student_of(one) == who.name:
            db.execute("DELETE FROM senders WHERE label = ? AND name = ?", [one.label, one.name])
    db.execute(f"DELETE FROM verdicts WHERE grading IN (SELECT id FROM gradings WHERE {_UNUSED})")  # noqa: S608
    for table in ("gradings", "regrades", "in_lanes"):
        db.execute(f"DELETE FROM {table} WHERE {_UNUSED}")  # noqa: S608
    db.execute(
        """UPDATE gradings SET (student, path) = (SELECT h.student, h.path FROM hand_ins AS h
            WHERE h.lesson = gradings.lesson AND h.content = gradings.content) WHERE student = ?""",
        [who.name],
    )
    _change_edits(db, who)
    return f"{units.some(deleted['hand_ins'], 'attempt')} and {units.some(deleted['receipts'], 'receipt')}"


def _change_edits(db: sqlite3.Connection, who: ForgottenStudent) -> None:
    """Delete the changes by staff that concern the student, and take the student out of lists in other changes."""
    for one in kept_edits.history(db):
        value = edits.value_of(one.value) if one.value else None
        place = edits.student_place(one.path)
        is_gone = place is not None and who.is_meant(one.path[place])
        if roster_edits.is_of_roster(one):
            names = [*one.path[2:], *(value.get(key, "") for key in roster_edits.KEYS if value)]
            is_gone = any(map(who.has, filter(None, names)))
        elif isinstance(value, list) and one.path[-1] == edits.LIST:
            kept = [name for name in value if not who.is_meant(name)]
            is_gone = bool(value) and not kept
            db.execute("UPDATE edits SET value = ? WHERE id = ?", [edits.spelled_value(kept), one.number])
        if is_gone:
            db.execute("DELETE FROM edits WHERE id = ?", [one.number])


def without(text: str, who: ForgottenStudent) -> str:
    """Return the text of a course file without the student. A team without other members is removed."""
    now = datetime.now(UTC)
    return edits.applied(text, [Edit(path, value, "", now) for path, value in _removals(tomllib.loads(text), who)])


def _removals(
    table: Mapping[str, Any], who: ForgottenStudent, *path: str
) -> Iterator[tuple[tuple[str, ...], str | None]]:
    for key, value in table.items():
        whole = (*path, key)
        if edits.student_place(whole) == len(path) and who.is_meant(key):
            yield whole, None
        elif isinstance(value, dict):
            yield from _removals(value, who, *whole)
        elif isinstance(value, list) and key == edits.LIST:
            kept = [name for name in map(str, value) if not who.is_meant(name)]
            if len(kept) < len(value):
                yield (
                    (path if path[:1] == ("teams",) and not kept else whole),
                    edits.spelled_value(kept) if kept else None,
                )
