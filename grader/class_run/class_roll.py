"""Read a class, or one student of it, from the database of grades. All reports and pages are made from this alone."""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from grader.class_run import database, rows, senders
from grader.class_run.standing import StudentLesson, by_hand, possible, same_content, struck, student_lessons
from grader.class_run.stored_attempts import StoredAttempt, with_team_mates
from grader.course.by_hand import HandEntry, given
from grader.course.class_commands import ClassCommands
from grader.course.course_file import Course
from grader.course.results import HandIn, LessonStanding, Span, TaskPoints
from grader.course.roll import Roll
from grader.course.roster import Roster
from grader.records import LeftOut, Report


def read(
    db: sqlite3.Connection,
    meta: Mapping[str, str],
    course: Course,
    commands: ClassCommands,
    only: Collection[str] | None = None,
    *,
    with_held: bool = False,
) -> Roll:
    """Return all students with their current grades, or the students `only`, without what concerns the whole class.

    The reports lack single measurements. `meta` has the facts on the whole class, and `commands` its commands. The
    folder in the commands is a class folder with hand-ins that must be graded, if there are any. If `with_held` is set,
    held gradings count.
    """
    tasks, roster = rows.tasks(db), Roster.of(meta.get("roster", ""))
    history = tuple(one for one in rows.given(db) if only is None or one.student in only)
    left_out = (LeftOut(*row) for row in db.execute("SELECT * FROM left_out"))
    attempts, found = student_lessons_of(db, course, only, with_held=with_held)
    students = {*database.students(db), *course.students, *roster.students, *(one.student for one in found)}
    reports, unreadable = _reports(db, found)
    lost = {(one.student, one.lesson) for one in unreadable}
    standings = _standings(found, [one for one, _ in reports], history, tasks, course)
    final = {key for key, one in standings.items() if one.by_hand and one.points is not None}
    waiting = (*(hand_in for one in found for hand_in in one.waiting), *unreadable)
    to_grade = min((hand_in.folder for one in found for hand_in in one.needed), default="")
    roll = Roll(
        title=course.title or Path(meta["class"]).name,
        kit=meta["kit"],
        students=tuple(one for one in sorted(students) if only is None or one in only),
        tasks=tasks,
        reports=tuple(report for report, _ in reports),
        waiting=tuple(one for one in waiting if (one.student, one.lesson) not in final),
        notes=(),
        standings=tuple(one for key, one in sorted(standings.items()) if key not in lost - final),
        spans=tuple(span for _, span in reports),
        left_out=tuple(one for one in left_out if only is None or one.student in only),
        gone=tuple(hand_in for one in found for hand_in in one.gone),
        course=course,
        commands=replace(commands, folder=to_grade or meta["class"]),
        by_hand=history,
        at=datetime.now(UTC),
        roster=roster,
        senders=senders.everyone(db),
        set_aside=tuple(aside for one in found for aside in one.set_aside),
        sealed=tuple(one.may_count[-1].hand_in for one in found if one.may_count and course.hides(one.lesson)),
    )
    if only is not None:
        return roll
    notes = [note for (note,) in db.execute("SELECT note FROM notes ORDER BY folder, rowid")]
    notes += [f"{who}, {lesson}: its grade in {database.FILE} cannot be read" for who, lesson in sorted(lost)]
    excluded, unmatched = struck(with_team_mates(attempts, course), course)
    same = tuple(same_content(attempts, course))
    return replace(roll, notes=tuple(notes), same_content=same, struck=excluded, unmatched=unmatched)


def student_lessons_of(
    db: sqlite3.Connection, course: Course, only: Collection[str] | None = None, *, with_held: bool = False
) -> tuple[list[StoredAttempt], list[StudentLesson]]:
    """Return all attempts of the class, and the one that counts for each student and lesson.

    With `only`, return those of these students alone, and the attempts of their team mates.
    """
    mates = None if only is None else course.with_team_mates(only)
    attempts, most = rows.attempts(db, mates, with_held=with_held), possible(rows.tasks(db))
    marks = given(rows.given(db)) if course.slip_days or course.teams else {}
    found = student_lessons(attempts, course, most, marks)
    return attempts, [one for one in found if only is None or one.student in only]


def waiting_of(db: sqlite3.Connection, course: Course) -> list[StudentLesson]:
    """Return the students and lessons with attempts that must be graded. Without such attempts, this takes little time.

    Their standings are not those of the class, because slip days depend on all lessons of a student.
    """
    waiting = db.execute(database.UNGRADED).fetchall()
    students, lessons = ({row[column] for row in waiting} for column in ("student", "lesson"))
    attempts = rows.attempts(db, course.with_team_mates(students), lessons)
    return [one for one in student_lessons(attempts, course) if one.needed]


def _reports(db: sqlite3.Connection, found: Sequence[StudentLesson]) -> tuple[list[tuple[Report, Span]], list[HandIn]]:
    """Return the reports on the attempts that count, and the hand-ins whose reports cannot be read."""
    reports: list[tuple[Report, Span]] = []
    unreadable: list[HandIn] = []
    for chosen in (one.chosen for one in found if one.chosen):
        try:
            reports.append(rows.report(db, chosen, raw=False))
        except Exception:  # noqa: BLE001 - any failure concerns only this hand-in
            unreadable.append(chosen.hand_in)
    return reports, unreadable


def _standings(
    found: Sequence[StudentLesson],
    reports: Sequence[Report],
    history: Sequence[HandEntry],
    tasks: Sequence[TaskPoints],
    course: Course,
) -> dict[tuple[str, str], LessonStanding]:
    """Return the results by student and lesson, with the points by hand of the lessons that count."""
    marks = {key: of for key, of in given(history).items() if key[1] in {task.lesson for task in tasks}}
    standings = {(s.student, s.lesson): s for one in found if (s := one.standing)}
    return standings | {(s.student, s.lesson): s for s in by_hand(marks, found, reports, tasks, course)}
