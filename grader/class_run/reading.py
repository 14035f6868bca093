"""Read attempts and reports of a class from the tables of its database of grades."""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from grader.class_run import rows, tables
from grader.class_run.database import FILE
from grader.class_run.standing import Row, same_content, struck, student_lessons
from grader.course.course_file import Course
from grader.course.roll import HandIn, Roll, Span, TaskPoints
from grader.hand_ins.left_out import LeftOut
from grader.records import Report


def attempts(db: sqlite3.Connection, student: str | None = None) -> list[Row]:
    """Return all attempts of the class, or of one student, sorted by student and lesson."""
    asked = (tables.ATTEMPTS,) if student is None else (tables.ATTEMPTS_OF, [student])
    return [
        Row(
            HandIn(row["student"], row["lesson"], row["path"], row["sha256"], row["content"]),
            rows.moment(row["handed_in_utc"]),
            bool(row["there"]),
            row["grading"],
            row["points"],
            bool(row["refused"]),
            bool(row["untouched"]),
            row["regrade"] or 0,
        )
        for row in db.execute(*asked)
    ]


def report(db: sqlite3.Connection, row: Row, *, raw: bool = True) -> tuple[Report, Span]:
    """Return the newest report on the file of an attempt, and the times at which this grading began and ended.

    Without `raw`, single measurements are left out.
    """
    grading = db.execute(tables.GRADING, [row.grading]).fetchone()
    started, finished = (datetime.fromisoformat(grading[name]) for name in ("started_utc", "finished_utc"))
    span = Span(row.hand_in.student, row.hand_in.lesson, started, finished, row.grading, row.regraded)
    return rows.report(db, grading, row.hand_in, row.at, raw=raw), span


def roll(db: sqlite3.Connection, meta: Mapping[str, str], course: Course, tasks: tuple[TaskPoints, ...]) -> Roll:
    """Return the class with its current grades and the course rules on dates and attempts.

    `meta` is the content of the table `meta`. The reports lack single measurements.
    """
    rows_of_class = attempts(db)
    found = list(student_lessons(rows_of_class, course))
    read, unreadable = _read(db, [one.chosen for one in found if one.chosen])
    lost = {(one.student, one.lesson) for one in unreadable}
    struck_, unmatched = struck(rows_of_class, course)
    handed_in = (name for (name,) in db.execute("SELECT name FROM students"))
    return Roll(
        title=Path(meta["class"]).name,
        kit=meta["kit"],
        students=tuple(sorted({*handed_in, *course.students})),
        tasks=tasks,
        reports=tuple(report for report, _ in read),
        waiting=(*(hand_in for one in found for hand_in in one.waiting), *unreadable),
        notes=(
            *(note for (note,) in db.execute("SELECT note FROM notes ORDER BY rowid")),
            *(f"{one.student}, {one.lesson}: its grade in {FILE} cannot be read" for one in unreadable),
        ),
        standings=tuple(s for one in found if (s := one.standing) and (s.student, s.lesson) not in lost),
        spans=tuple(span for _, span in read),
        left_out=tuple(LeftOut(*row) for row in db.execute("SELECT * FROM left_out")),
        gone=tuple(row.hand_in for one in found for row in one.gone),
        same_content=tuple(same_content(rows_of_class)),
        struck=struck_,
        unmatched=unmatched,
        course=course,
    )


def _read(db: sqlite3.Connection, chosen: Sequence[Row]) -> tuple[list[tuple[Report, Span]], list[HandIn]]:
    read: list[tuple[Report, Span]] = []
    unreadable: list[HandIn] = []
    for row in chosen:
        try:
            read.append(report(db, row, raw=False))
        except Exception:  # noqa: BLE001 - any failure concerns only this hand-in
            unreadable.append(row.hand_in)
    return read, unreadable
