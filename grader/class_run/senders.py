"""Store who handed in, as the folders and platforms name these senders, and which student of the class each sender is.

If the roster changes, a sender can be another student. The hand-ins of the sender then belong to this student.
"""

import json
import sqlite3
from collections.abc import Mapping

from grader.class_run import database
from grader.class_run.rows import cells
from grader.course.roster import Roster
from grader.records import Sender

_NAMES = {"students": "name", "left_out": "student", "by_hand": "student", "senders": "student"}
"""The tables with the names of students, and their columns. `hand_ins` needs more care."""


def store(db: sqlite3.Connection, senders: Mapping[Sender, str]) -> None:
    """Store the student of each sender."""
    found = (cells(one.label, one.name, json.dumps(one.ids), student) for one, student in senders.items())
    command = "INSERT INTO senders VALUES (?, ?, ?, ?) ON CONFLICT (label, name, ids) DO UPDATE SET student = ?4"
    db.executemany(command, found)


def stored(db: sqlite3.Connection) -> dict[Sender, str]:
    """Return the student of each sender."""
    found = db.execute("SELECT * FROM senders ORDER BY label")
    return {Sender(label, name, tuple(json.loads(ids))): student for label, name, ids, student in found}


def moved(senders: Mapping[Sender, str], roster: Roster) -> dict[str, str]:
    """Return the new name of each student whom a roster calls otherwise. Senders who now differ keep the old name."""
    now: dict[str, set[str]] = {}
    for sender, student in senders.items():
        now.setdefault(student, set()).add(roster.student_of(sender))
    return {old: names.pop() for old, names in now.items() if len(names) == 1 and names != {old}}


def move(db: sqlite3.Connection, to: Mapping[str, str]) -> None:
    """Give students their new names. If two names become one, the student has the attempts of both."""
    if not to:
        return
    db.create_function("now", 1, lambda name: to.get(name, name), deterministic=True)
    for table, column in _NAMES.items():
        db.execute(f"UPDATE OR REPLACE {table} SET {column} = now({column})")  # noqa: S608 - constants
    hand_ins = db.execute("SELECT now(student), * FROM hand_ins ORDER BY there, rowid").fetchall()
    db.execute("DELETE FROM hand_ins")
    for student, _, *given, there, folder in hand_ins:
        db.execute(database.HAND_IN, (student, *given, folder))
        if not there:  # hand-ins that are there follow
            key = (student, given[0], given[3])
            db.execute("UPDATE hand_ins SET there = 0 WHERE (student, lesson, content) = (?, ?, ?)", key)
