"""Store what a run found in a class folder. The grades of several folders, one for each week, can be in one database.

A run changes only what its folder has. Hand-ins of other folders, lessons that this run does not grade, and lessons of
which the folder holds nothing stay as they are.
"""

import sqlite3
from collections.abc import Collection as Names
from collections.abc import Sequence
from dataclasses import asdict, astuple
from pathlib import Path

from grader.class_run import database, rows, senders
from grader.course.results import TaskPoints
from grader.files import storable
from grader.hand_ins.collect import Collection
from harness.errors import UsageError
from harness.rendering import units

_TABLES = ("students", "senders", "hand_ins", "notes", "left_out")


def join(db: sqlite3.Connection, out: Path, folder: str, students: Names[str], listed: Names[str]) -> None:
    """Make `folder` a folder of the class in `out`. Raise `UsageError` if its students seem to be another class.

    At least half of the students of the folder must be in the class, or half of the class in the folder. `listed` are
    the students in the course's own list. A folder that was moved, and one that is known, are always accepted.
    """
    known = folders(db)
    gone = [path for path in known if Path(path).name == Path(folder).name and not Path(path).exists()]
    if folder not in known and gone:
        _rename(db, gone[0], folder)
    elif folder not in known:
        names = set(map(storable, students))
        there = {*listed, *database.students(db)}
        shared = len(names & there)
        if 2 * shared < min(len(names), len(there)):
            raise UsageError(
                f"{out} holds the grades of another class: only {shared} of the {len(names)} students in {folder} are "
                "in it. Use another folder for --out. If both folders belong to the same course, list its students in "
                "the course file first."
            )
    db.execute("UPDATE meta SET value = ?1 WHERE key = 'class' AND value <> ?1", [folder])


def move(db: sqlite3.Connection, folder: str) -> None:
    """Store that the folder of the class is now `folder`, because a person moved or copied its files there."""
    (before,) = db.execute("SELECT value FROM meta WHERE key = 'class'").fetchone()
    _rename(db, before, folder)
    db.execute("UPDATE meta SET value = ? WHERE key = 'class'", [folder])


def _rename(db: sqlite3.Connection, before: str, folder: str) -> None:
    for table in _TABLES:
        db.execute(f"UPDATE OR REPLACE {table} SET folder = ? WHERE folder = ?", [folder, before])  # noqa: S608


def folders(db: sqlite3.Connection) -> set[str]:
    """Return the class folders whose students are in the database, and the one that was graded last."""
    query = "SELECT value FROM meta WHERE key = 'class' UNION SELECT folder FROM students"
    return {path for (path,) in db.execute(query)}


def enrol(db: sqlite3.Connection, folder: str, found: Collection, tasks: Sequence[TaskPoints]) -> list[str]:
    """Store the students and their submissions for the lessons of `tasks`, which then count, too.

    Return a sentence that names the students of earlier runs whose hand-ins do not count any more, or [].
    """
    senders.store(db, folder, found.senders)
    lessons = {task.lesson for task in tasks}
    counting = {lesson for (lesson,) in db.execute("SELECT lesson FROM tasks WHERE counts")} | lessons
    count(db, tasks)
    left = _take_back(db, folder, found, lessons)
    if whole := lessons >= counting:
        db.execute("DELETE FROM students WHERE folder = ?", [folder])
        db.execute("DELETE FROM notes WHERE folder = ?", [folder])
    db.executemany("INSERT OR IGNORE INTO students VALUES (?, ?)", (rows.cells(folder, one) for one in found.students))
    db.executemany("INSERT OR IGNORE INTO notes VALUES (?, ?)", (rows.cells(folder, note) for note in found.notes))
    new = [one for one in found.left_out if whole or one.lesson in {*lessons, ""}]
    # A lesson of which the folder holds nothing keeps its entries.
    changed = ({one.lesson for one in new} | {one.lesson for one in found.submissions}) & lessons
    db.executemany("DELETE FROM left_out WHERE folder = ? AND path = ?", (rows.cells(folder, one.path) for one in new))
    db.executemany("DELETE FROM left_out WHERE folder = ? AND lesson = ?", ((folder, one) for one in changed))
    if whole:
        counts = "(SELECT lesson FROM tasks WHERE counts)"
        db.execute(f"DELETE FROM left_out WHERE folder = ? AND lesson NOT IN {counts}", [folder])  # noqa: S608
    for one in new:
        rows.insert(db, "left_out", {**asdict(one), "folder": folder})
    given = (one for one in found.submissions if one.lesson in lessons)
    db.executemany(database.HAND_IN, ((*rows.of_hand_in(one), folder) for one in given))
    sentence = (
        f"Students of an earlier run who are not in {folder} any more: {units.few(left)}. "
        "To count these hand-ins again, put them back and run the same command again."
    )
    return [sentence] if left else []


def count(db: sqlite3.Connection, tasks: Sequence[TaskPoints]) -> None:
    """Let these tasks count, with these points."""
    db.executemany("DELETE FROM tasks WHERE lesson = ?", ([lesson] for lesson in {task.lesson for task in tasks}))
    db.executemany("INSERT INTO tasks VALUES (?, ?, ?, 1)", map(astuple, tasks))


def add(db: sqlite3.Connection, folder: str, found: Collection) -> None:
    """Store what one student handed in now, beside everything that is stored already."""
    db.executemany("INSERT OR IGNORE INTO students VALUES (?, ?)", (rows.cells(folder, one) for one in found.students))
    for one in found.left_out:
        rows.insert(db, "left_out", {**asdict(one), "folder": folder})
    db.executemany(database.HAND_IN, ((*rows.of_hand_in(one), folder) for one in found.submissions))


def _take_back(db: sqlite3.Connection, folder: str, found: Collection, lessons: Names[str]) -> list[str]:
    """Mark hand-ins that were replaced, and those of students who are not in the folder any more. Return the latter."""
    given = {(one.student, one.lesson) for one in found.submissions}
    present = {lesson for _, lesson in given} & {*lessons}
    here = {student for student, _ in given} | {one.student for one in found.left_out}
    query = "SELECT DISTINCT student, lesson FROM hand_ins WHERE folder = ? AND there"
    old = [(student, lesson) for student, lesson in db.execute(query, [folder]) if lesson in lessons]
    left = {student for student, lesson in old if lesson in present} - here
    command = "UPDATE hand_ins SET there = 0 WHERE folder = ? AND student = ? AND lesson = ?"
    db.executemany(command, [(folder, *pair) for pair in old if pair in given or pair[0] in left])
    return sorted(left)
