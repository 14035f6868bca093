"""Store who handed in each file or folder, and rename the students when another roster gives them other names."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.class_run import database
from grader.class_run.rows import cells
from grader.course.course_file import Course
from grader.course.results import TaskPoints
from grader.course.roster import NO_ROSTER, Roster
from grader.files import storable
from grader.records import Sender


def store(db: sqlite3.Connection, folder: str, senders: Mapping[str, Sequence[Sender]]) -> None:
    """Store the senders of each entry of a class folder, by the entry's name."""
    db.executemany(
        "INSERT OR IGNORE INTO senders VALUES (?, ?, ?, ?, ?)",
        (cells(folder, entry, one.label, one.name, json.dumps(one.ids)) for entry, of in senders.items() for one in of),
    )


def stored(db: sqlite3.Connection) -> dict[tuple[str, str], list[Sender]]:
    """Return the senders by class folder and name of the entry in it."""
    found: dict[tuple[str, str], list[Sender]] = {}
    for folder, entry, label, name, ids in db.execute("SELECT * FROM senders ORDER BY label"):
        found.setdefault((folder, entry), []).append(Sender(label, name, tuple(json.loads(ids))))
    return found


def everyone(db: sqlite3.Connection) -> tuple[Sender, ...]:
    """Return all senders."""
    found = db.execute("SELECT DISTINCT label, name, ids FROM senders ORDER BY label, name, ids")
    return tuple(Sender(label, name, tuple(json.loads(ids))) for label, name, ids in found)


def names(senders: Iterable[Sender], before: Roster, now: Roster) -> dict[str, set[str]]:
    """Return the names of senders by the roster `now`, by the student whom they are by the roster `before`."""
    found: dict[str, set[str]] = {}
    for sender in senders:
        found.setdefault(before.student_of(sender), set()).add(now.student_of(sender))
    for student, one in before.students.items():
        if student not in found:
            same = now.find(Sender(student, one.name, tuple(filter(None, (one.id, one.email)))))
            found[student] = set(same) if len(same) == 1 else {student}
    return found


@dataclass(frozen=True, slots=True)
class Remembered:
    """What an output folder stores of earlier runs, or empty values. `folders` are the class folders of these runs."""

    course: Course = field(default_factory=Course)
    tasks: tuple[TaskPoints, ...] = ()
    board: str = ""
    students: tuple[str, ...] = ()
    roster: Roster = NO_ROSTER
    senders: tuple[Sender, ...] = ()
    folders: frozenset[str] = frozenset()

    def knows(self, folder: Path) -> bool:
        """Return whether an earlier run graded this class folder."""
        return storable(str(folder.resolve())) in self.folders

    def students_by(self, roster: Roster) -> list[str]:
        """Return the students with their names by another roster."""
        new = names(self.senders, self.roster, roster)
        return sorted({name for one in self.students for name in new.get(one, {one})} | {*roster.students})


def rename(db: sqlite3.Connection, before: Roster, now: Roster) -> None:
    """Give stored students their names by another roster. If two are now one student, this one has all attempts."""
    places = stored(db)
    whole = names(everyone(db), before, now)
    of_folder: dict[tuple[str, str], set[str]] = {}
    for (folder, _), of in places.items():
        for one in of:
            of_folder.setdefault((folder, before.student_of(one)), set()).add(now.student_of(one))

    def new(student: str, folder: str = "", path: str = "") -> str:
        of = next((places[folder, one] for one in _paths(path) if (folder, one) in places), [])
        found = {now.student_of(one) for one in of if before.student_of(one) == student} or whole.get(student, set())
        return min(found) if len(found) == 1 else student

    db.create_function("new", -1, new)
    db.execute("UPDATE by_hand SET student = new(student)")
    db.execute("UPDATE left_out SET student = new(student, folder, path)")
    students = db.execute("SELECT folder, name FROM students").fetchall()
    hand_ins = db.execute("SELECT new(student, folder, path), * FROM hand_ins ORDER BY there, rowid").fetchall()
    db.execute("DELETE FROM students")
    db.execute("DELETE FROM hand_ins")
    for folder, student in students:
        here = of_folder.get((folder, student), {new(student)})
        db.executemany("INSERT OR IGNORE INTO students VALUES (?, ?)", [(folder, one) for one in here])
    for student, _, *given, there, folder in hand_ins:
        db.execute(database.HAND_IN, (student, *given, folder))
        if not there:  # hand-ins that are there follow
            key = (student, given[0], given[3])
            db.execute("UPDATE hand_ins SET there = 0 WHERE (student, lesson, content) = (?, ?, ?)", key)


def _paths(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
