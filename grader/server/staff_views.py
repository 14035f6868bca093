"""What the pages for staff show of a course, as values without HTML."""

import shutil
import sqlite3
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from grader.class_run import rows
from grader.class_run.grading import Key
from grader.class_run.regrades import RegradeChange
from grader.course.course_file import Course, Dates
from grader.course.dates import Extension, LocalTime
from grader.course.results import HandIn
from grader.course.roll import Roll, folder_name
from grader.reports import grade_texts
from grader.server import queue
from grader.server.accounts import Login
from grader.server.course_folder import OpenCourse
from grader.server.events import LiveQueue
from grader.server.queue import QueuePlace, Waiting
from grader.server.requests import Service
from harness.rendering import units

ALIVE_S: Final = 60.0
"""The grading process is taken for dead after this time without a heartbeat. It can wait 30 s for the database."""


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A hand-in in the queue, with the estimate of its grade."""

    one: Waiting
    estimate: QueuePlace


@dataclass(frozen=True, slots=True)
class ClassNow:
    """The state of the class: numbers of attempts and requests, the queue, and whether the grader and the disk work.

    `stuck` are the hand-ins without a grade because the grader failed. `unread` is the number of files not read yet.
    `free` is the free disk space in bytes.
    """

    handed_in: int
    graded: int
    waiting: int
    unread: int
    requests: int
    asked_again: int
    held: int
    stuck: tuple[HandIn, ...]
    queue: tuple[QueueRow, ...]
    is_grading: bool
    free: int


def class_now(opened: OpenCourse, service: Service, live: LiveQueue) -> ClassNow:
    """Return the state of the class."""
    found, places = live.waiting(opened), live.places(opened)

    def count(query: str) -> int:
        (number,) = opened.db.execute(f"SELECT count(*) FROM {query}").fetchone()  # noqa: S608 - constants
        return int(number)

    has_grade = "EXISTS (SELECT 1 FROM gradings AS g WHERE (g.lesson, g.content) = (h.lesson, h.content)"
    stuck = opened.db.execute(
        f"""SELECT min(student), lesson, path, sha256, content, folder FROM hand_ins AS h WHERE {has_grade})
            AND NOT {has_grade} AND NOT g.faulted) AND there GROUP BY lesson, content"""  # noqa: S608 - constants
    )
    waits = {one.key for one in found}
    return ClassNow(
        handed_in=count("hand_ins"),
        graded=count(f"hand_ins AS h WHERE {has_grade} AND NOT g.faulted)"),
        waiting=sum(not one.again for one in found),
        unread=count("receipts WHERE NOT is_read"),
        requests=count("requests WHERE answered_utc IS NULL"),
        asked_again=count("regrades"),
        held=count("gradings WHERE state = 'held'"),
        stuck=tuple(one for row in stuck if ((one := HandIn(*row)).lesson, one.content) not in waits),
        queue=tuple(QueueRow(one, places[one.key]) for one in found if one.key in places),
        is_grading=is_grading(service),
        free=shutil.disk_usage(service.course.path).free,
    )


def is_grading(service: Service) -> bool:
    """Return whether the grading process lives: it touches a file several times a minute."""
    with suppress(FileNotFoundError):
        return abs(time.time() - service.course.heartbeat.stat().st_mtime) < ALIVE_S
    return False


@dataclass(frozen=True, slots=True)
class StudentLessonRow:
    """A student's result in a lesson: the points that count, or None, why, the due date, and the tasks."""

    lesson: str
    points: float | None
    possible: float
    status: str
    reason: str
    due: datetime | None
    tasks: tuple[str, ...]


def lesson_rows(alone: Roll) -> list[StudentLessonRow]:
    """Return the results of the only student of `alone`."""
    (student,) = alone.students
    grades, standings = alone.gradebook()[student], alone.standings_of(student)
    return [
        StudentLessonRow(
            lesson,
            grades.get(lesson),
            alone.possible(lesson),
            grade_texts.lesson_result(alone, lesson).status,
            standings[lesson].reason if lesson in standings else "",
            alone.course.rule(student, lesson).due_utc,
            tuple(task.task for task in alone.tasks if task.lesson == lesson),
        )
        for lesson in alone.lessons
    ]


def attempt_points(opened: OpenCourse, student: str) -> dict[Key, float | None]:
    """Return the measured points of each attempt of a student, or None for an attempt without a grade."""
    own = rows.attempts(opened.db, [student])
    return {(row.hand_in.lesson, row.hand_in.content): row.points for row in own}


def student_of(opened: OpenCourse, key: str) -> str | None:
    """Return the student with this name or this `folder_name`, which addresses of pages use, or None."""
    people = dict.fromkeys((*opened.book.roster().students, *opened.book.course().students, *opened.book.students()))
    return next((one for one in people if key in {one, folder_name(one)}), None)


@dataclass(frozen=True, slots=True)
class LessonDates:
    """The dates of a lesson as forms show them, in the time zone of the course or "", and "hidden", "shown" or ""."""

    lesson: str
    opens: str = ""
    due: str = ""
    closes: str = ""
    results: str = ""


def lesson_dates(course: Course, lesson: str) -> LessonDates:
    """Return the dates of a lesson for the whole class."""
    dates = course.lessons.get(lesson, Dates())
    opens, due, closes = (
        one.wall.isoformat(timespec="seconds") if one else "" for one in (dates.opens, dates.due, dates.closes)
    )
    hidden = course.hidden.get(lesson)
    return LessonDates(lesson, opens, due, closes, "" if hidden is None else "hidden" if hidden else "shown")


def extension_text(to: LocalTime | Extension) -> str:
    """Return a student's own due date, or how much more time the student has, as text."""
    if isinstance(to, LocalTime):
        return str(to)
    days = to.length / timedelta(days=1)
    more = units.some(round(days), "day") if days == round(days) and not to.elapsed else f"{days * 24:g} hours"
    return f"{more} more"


def lessons_of(opened: OpenCourse) -> list[str]:
    """Return the lessons of the course."""
    return list(dict.fromkeys(task.lesson for task in opened.book.tasks()))


@dataclass(frozen=True, slots=True)
class RegradePlan:
    """The different hand-ins that a regrading would grade again, and the expected time for all of them."""

    hand_ins: tuple[HandIn, ...]
    takes: timedelta


def regrade_plan(opened: OpenCourse, lanes: int, student: str, lesson: str) -> RegradePlan:
    """Return what must be graded again for one student or "" for all, and for one lesson or "" for all.

    These are the attempts that count and whose files exist. Equal files are graded once.
    """
    found: dict[Key, HandIn] = {}
    for one in opened.book.student_lessons(student or None):
        if one.chosen and one.chosen.there and lesson in {"", one.chosen.hand_in.lesson}:
            found.setdefault((one.chosen.hand_in.lesson, one.chosen.hand_in.content), one.chosen.hand_in)
    seconds = queue.usual_seconds(opened, {key[0] for key in found})
    return RegradePlan(tuple(found.values()), timedelta(seconds=sum(seconds[key[0]] for key in found) / max(lanes, 1)))


def ask_again(db: sqlite3.Connection, hand_ins: Collection[HandIn], login: Login, now: datetime) -> None:
    """Store that these hand-ins must be graded again."""
    asked = [(one.lesson, one.content, login.account.name, now.isoformat()) for one in hand_ins]
    db.executemany("INSERT OR IGNORE INTO regrades VALUES (?, ?, ?, ?)", asked)


@dataclass(frozen=True, slots=True)
class StaffAction:
    """A change that one of staff made: who, what as a sentence, and when."""

    person: str
    what: str
    student: str
    at: datetime


def note(db: sqlite3.Connection, login: Login, now: datetime, what: str, student: str = "") -> None:
    """Store a sentence on a change that one of staff made."""
    row = (login.account.name, what, student, now.isoformat())
    db.execute("INSERT INTO staff_actions (person, what, student, at_utc) VALUES (?, ?, ?, ?)", row)


def actions(opened: OpenCourse, student: str | None = None, most: int = 50) -> list[StaffAction]:
    """Return the last changes by staff, of one student or all, the newest first."""
    query = "SELECT person, what, student, at_utc FROM staff_actions WHERE student = coalesce(?, student)"
    found = opened.db.execute(f"{query} ORDER BY id DESC LIMIT ?", [student, most])
    return [StaffAction(person, what, who, datetime.fromisoformat(at)) for person, what, who, at in found]


@dataclass(frozen=True, slots=True)
class StudentRequest:
    """A student's request for another grading, and its answer. `answered` is None without an answer."""

    number: int
    student: str
    lesson: str
    sentence: str
    at: datetime
    answer: str
    by: str
    answered: datetime | None


def requests(opened: OpenCourse, student: str | None = None) -> list[StudentRequest]:
    """Return the requests for another grading, of one student or all: first those without an answer."""
    query = "SELECT * FROM requests WHERE student = coalesce(?, student)"
    found = opened.db.execute(f"{query} ORDER BY answered_utc IS NOT NULL, id DESC", [student])
    return [
        StudentRequest(
            row["id"],
            row["student"],
            row["lesson"],
            row["sentence"],
            datetime.fromisoformat(row["at_utc"]),
            row["answer"],
            row["answered_by"],
            datetime.fromisoformat(row["answered_utc"]) if row["answered_utc"] else None,
        )
        for row in found
    ]


def change_text(one: RegradeChange) -> tuple[str, str, str]:
    """Return what a held grading would change: the task's result, the points of the lesson, and the total."""

    def arrow(before: str, after: str) -> str:
        return before if before == after else f"{before} → {after}"

    def number(value: float | None, unit: str = "") -> str:
        return "–" if value is None else f"{grade_texts.points(value)}{unit}"

    verdicts = [
        f"{grade_texts.points(of.points)}, {grade_texts.ended(of)}" if of else "no grade"
        for of in (one.before, one.after)
    ]
    return (
        arrow(verdicts[0], verdicts[1]),
        arrow(number(one.counted_before), number(one.counted_after)),
        arrow(number(one.total_before, " %"), number(one.total_after, " %")),
    )
