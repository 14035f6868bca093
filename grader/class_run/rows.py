"""Convert submissions, reports and attempts into rows of the database of grades, and back.

A timed round of the baseline and the submission (candidate) is a JSON list:

    [pair, baseline CPU s, baseline wall s, baseline calls, candidate CPU s, candidate wall s, candidate calls,
     baseline first]
"""

import json
import math
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import asdict, astuple
from datetime import datetime
from functools import lru_cache
from typing import Final

from grader.class_run import database, regrades
from grader.class_run.stored_attempts import StoredAttempt
from grader.course.by_hand import HandEntry
from grader.course.results import HandIn, Span, TaskPoints
from grader.files import storable
from grader.kinds import COSTS
from grader.records import Attempt, Control, Report, Speed, Status, Submission, TimeSource, Verdict
from grader.trials.faults import NOT_WRITTEN
from harness.machine.environment import Environment
from harness.paired.rounds import Reading, Round

Cell = str | int | float | None
StoredCode = tuple[HandIn, datetime | None, str | None]
"""An attempt, the time of the hand-in, and the code, which is None if it was never graded or cannot be read."""

OF_A_ROW = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)
"""SQLite errors about the values of one row. All other errors concern the whole file, such as a full disk."""

_SPEED: Final = ("ratio", "low", "high", "rounds_played", "tier", "undecided")
_HAND_IN: Final = ("student", "lesson", "path", "sha256", "content", "folder")
_SUBMISSION: Final = ("student", "lesson", "path", "sha256", "content", "refusal")
_ATTEMPT: Final = ("rationale", "help", "cases_passed", "cases", "output_tail")
"""The columns with the fields of a submission and of an attempt that have the same names."""


def cells(*values: Cell) -> tuple[Cell, ...]:
    """Return the values in a form that SQLite can store. Lone surrogates in texts are replaced."""
    return tuple(storable(value) if isinstance(value, str) else value for value in values)


def insert(db: sqlite3.Connection, table: str, row: Mapping[str, Cell]) -> int:
    """Insert a row with these columns into a table, and return the row's number."""
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    command = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - names of columns, not of people
    return db.execute(command, cells(*row.values())).lastrowid or 0


def of_hand_in(given: Submission) -> tuple[Cell, ...]:
    """Return the values of a submission for the SQL statement `database.HAND_IN`."""
    at = given.handed_in.isoformat() if given.handed_in else None
    return cells(
        given.student, given.lesson, given.path, given.sha256, given.content, given.refused, at, given.time_source
    )


def of_hand_entry(entry: HandEntry) -> dict[str, Cell]:
    """Return points or a comment by hand as a row of the table `by_hand`."""
    given: dict[str, Cell] = {"student": entry.student, "task": entry.task, "points": entry.points}
    return given | {"comment": entry.comment, "given_by": entry.by, "at_utc": entry.at.isoformat(), "undo": entry.undo}


def hand_entry(row: sqlite3.Row) -> HandEntry:
    """Return the points or the comment in a row of the table `by_hand`."""
    student, task, points, comment, by = (row[name] for name in ("student", "task", "points", "comment", "given_by"))
    return HandEntry(student, task, points, comment, by, datetime.fromisoformat(row["at_utc"]), bool(row["undo"]))


def of_report(report: Report) -> dict[str, Cell]:
    """Return what a row of the table `gradings` stores of a report."""
    return {
        **{name: getattr(report.submission, name) for name in _SUBMISSION},
        "source": None if report.submission.source is None else str(report.submission.source),
        "sandboxed": report.sandboxed,
        "environment": json.dumps(report.environment.to_dict(), sort_keys=True),
        "notes": json.dumps([storable(note) for note in report.notes]),
        "remarks": json.dumps([storable(remark) for remark in report.remarks]),
        "missing_layers": json.dumps([storable(layer) for layer in report.missing]),
        "duration_s": report.duration_s,
    }


def of_verdict(verdict: Verdict) -> dict[str, Cell]:
    """Return the result of a task as a row of the table `verdicts`, without the columns `grading` and `position`."""
    attempt = verdict.attempt
    turns = [(one, astuple(one.baseline)[:3], astuple(one.candidate)[:3]) for one in attempt.rounds]
    return {
        "task": verdict.task,
        "status": attempt.status.value,
        "points": verdict.points,
        "max_points": verdict.max_points,
        "cost": verdict.cost.name if verdict.cost else None,
        **dict(zip(_SPEED, astuple(attempt.speed) if attempt.speed else (None,) * len(_SPEED), strict=True)),
        **{name: getattr(attempt, name) for name in _ATTEMPT},
        "rounds": json.dumps([[one.pair, *base, *mine, one.baseline_first] for one, base, mine in turns]),
        "control": json.dumps(asdict(attempt.control) if attempt.control else None),
    }


def tasks(db: sqlite3.Connection, *, counting: bool = True) -> tuple[TaskPoints, ...]:
    """Return the tasks that count, or with `counting=False` also those that were graded but no longer count."""
    found = db.execute("SELECT lesson, task, points, counts FROM tasks ORDER BY lesson, rowid")
    return tuple(TaskPoints(*task) for *task, counts in found if counts or not counting)


def given(db: sqlite3.Connection) -> tuple[HandEntry, ...]:
    """Return the history of all points and comments by hand, in order of time."""
    return tuple(map(hand_entry, db.execute("SELECT * FROM by_hand ORDER BY id")))


def attempts(
    db: sqlite3.Connection,
    students: Collection[str] | None = None,
    lessons: Collection[str] | None = None,
    *,
    with_held: bool = False,
) -> list[StoredAttempt]:
    """Return all attempts of the class, or of these students and lessons, sorted by student and lesson.

    The grade of each attempt is the newest of its file. Held gradings are only considered if `with_held` is set.
    """
    state = regrades.HELD if with_held else regrades.COUNTS
    only = [None if names is None else json.dumps([*cells(*names)]) for names in (students, lessons)]
    return [
        StoredAttempt(
            at=(at := datetime.fromisoformat(row["handed_in_utc"]) if row["handed_in_utc"] else None),
            time_source=TimeSource(row["time_source"]),
            points=row["points"],
            refused=bool(row["refused"]),
            there=bool(row["there"]),
            hand_in=HandIn(**{name: row[name] for name in _HAND_IN}, at=at),
            grading=row["grading"],
            untouched=bool(row["untouched"]),
            regraded=row["regrade"] or 0,
            by_task=json.loads(row["by_task"]),
            was_faulted=bool(row["was_faulted"]),
        )
        for row in db.execute(database.ATTEMPTS, [NOT_WRITTEN, state, *only])
    ]


def sources(db: sqlite3.Connection) -> tuple[StoredCode, ...]:
    """Return all attempts of the class with their code, sorted by student, lesson and path."""
    fields = ("student", "lesson", "path", "sha256", "content", "folder")
    return tuple(
        (
            HandIn(*(row[name] for name in fields)),
            datetime.fromisoformat(row["handed_in_utc"]) if row["handed_in_utc"] else None,
            row["source"],
        )
        for row in db.execute(database.SOURCES)
    )


def report(db: sqlite3.Connection, attempt: StoredAttempt, *, raw: bool = True) -> tuple[Report, Span]:
    """Return the newest report on the file of an attempt, and the times at which this grading began and ended.

    Without `raw`, single measurements are left out.
    """
    row, given = db.execute("SELECT * FROM gradings WHERE id = ?", [attempt.grading]).fetchone(), attempt.hand_in
    started, finished = (datetime.fromisoformat(row[name]) for name in ("started_utc", "finished_utc"))
    verdicts = db.execute("SELECT * FROM verdicts WHERE grading = ? ORDER BY position", [attempt.grading])
    made = Report(
        submission=Submission(
            given.student,
            given.lesson,
            given.path,
            given.sha256,
            row["source"],
            row["refusal"],
            handed_in=attempt.at,
            time_source=attempt.time_source,
        ),
        verdicts=tuple(_verdict(verdict, raw=raw) for verdict in verdicts),
        environment=_environment(row["environment"]),
        sandboxed=bool(row["sandboxed"]),
        duration_s=row["duration_s"],
        notes=tuple(json.loads(row["notes"])),
        missing=tuple(json.loads(row["missing_layers"])),
        remarks=tuple(json.loads(row["remarks"])),
    )
    return made, Span(given.student, given.lesson, started, finished, attempt.grading, attempt.regraded, given.folder)


@lru_cache(maxsize=64)  # a class has thousands of reports from a few machines
def _environment(text: str) -> Environment:
    return Environment.from_dict(json.loads(text))


def _verdict(row: sqlite3.Row, *, raw: bool) -> Verdict:
    rounds = json.loads(row["rounds"]) if raw else []
    control = json.loads(row["control"])
    speed = None  # SQLite stores a NaN as NULL
    if row["tier"] is not None:
        ratio, low, high = (math.nan if row[name] is None else row[name] for name in _SPEED[:3])
        speed = Speed(ratio, low, high, row["rounds_played"], row["tier"], bool(row["undecided"]))
    attempt = Attempt(
        status=Status(row["status"]),
        speed=speed,
        rounds=tuple(Round(pair, Reading(*turns[:3]), Reading(*turns[3:]), first) for pair, *turns, first in rounds),
        control=Control(**control) if control else None,
        **{name: row[name] for name in _ATTEMPT},
    )
    return Verdict(row["task"], row["points"], row["max_points"], COSTS.get(row["cost"]), attempt)
