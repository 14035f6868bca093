"""Convert a report into rows of the database of grades, and back.

A timed round of the baseline and the submission (candidate) is a JSON list:

    [pair, baseline CPU s, baseline wall s, baseline calls, candidate CPU s, candidate wall s, candidate calls,
     baseline first]

A comparison of the baseline with itself is a JSON object, or null if there was none.
"""

import json
import math
import sqlite3
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache

from grader.class_run import tables
from grader.course.roll import HandIn
from grader.records import Attempt, Control, Cost, Report, Speed, Status, Submission, Verdict
from grader.text import storable
from harness.machine.environment import Environment
from harness.paired.rounds import Reading, Round

Cell = str | int | float | None

OF_A_ROW = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)
"""SQLite errors about the values of one row. All other errors concern the whole file, such as a full disk."""


def cells(*values: Cell) -> tuple[Cell, ...]:
    """Return the values in a form that SQLite can store. Lone surrogates in texts are replaced."""
    return tuple(storable(value) if isinstance(value, str) else value for value in values)


def of_hand_in(given: Submission) -> tuple[Cell, ...]:
    """Return the values of a submission for the SQL statement `tables.HAND_IN`."""
    at = given.handed_in.isoformat() if given.handed_in else None
    return cells(given.student, given.lesson, given.path, given.sha256, given.content, given.refused, at, given.timed)


def of_report(report: Report, *, kit: str, times: tuple[str, str], faulted: bool, regrade: int = 0) -> tuple[Cell, ...]:
    """Return a report as a row of the table `gradings`, without the column `id`."""
    given = report.submission
    return cells(
        given.student,
        given.lesson,
        given.path,
        given.sha256,
        given.source,
        given.refusal,
        kit,
        report.sandboxed,
        json.dumps(report.environment.to_dict(), sort_keys=True),
        json.dumps([storable(note) for note in report.notes]),
        json.dumps([storable(layer) for layer in report.missing]),
        *times,
        report.duration_s,
        faulted,
        regrade,
        given.content,
    )


def of_verdict(verdict: Verdict) -> tuple[Cell, ...]:
    """Return the result of a task as a row of the table `verdicts`, without the columns `grading` and `position`."""
    attempt = verdict.attempt
    speed = attempt.speed
    rounds = [[one.pair, *_turn(one.baseline), *_turn(one.candidate), one.baseline_first] for one in attempt.rounds]
    measured: tuple[Cell, ...] = (None,) * 6
    if speed:
        measured = (speed.ratio, speed.low, speed.high, speed.rounds, speed.tier, speed.undecided)
    return cells(
        verdict.task,
        attempt.status.value,
        verdict.points,
        verdict.max_points,
        verdict.cost.value if verdict.cost else None,
        *measured,
        attempt.cases_passed,
        attempt.cases,
        attempt.rationale,
        attempt.help,
        attempt.output_tail,
        json.dumps(rounds),
        json.dumps(asdict(attempt.control) if attempt.control else None),
    )


def _turn(reading: Reading) -> tuple[float, float, int]:
    return reading.cpu_s, reading.wall_s, reading.calls


def report(db: sqlite3.Connection, row: sqlite3.Row, given: HandIn, at: datetime | None, *, raw: bool = True) -> Report:
    """Return the report that a row of the table `gradings` stores. `given` is the submitted file, and `at` its time.

    Without `raw`, single measurements are left out.
    """
    verdicts = db.execute(tables.VERDICTS if raw else tables.VERDICTS_WITHOUT_ROUNDS, [row["id"]])
    return Report(
        submission=Submission(
            given.student, given.lesson, given.path, given.sha256, row["source"], row["refusal"], handed_in=at
        ),
        verdicts=tuple(_verdict(verdict) for verdict in verdicts),
        environment=_environment(row["environment"]),
        sandboxed=bool(row["sandboxed"]),
        duration_s=row["duration_s"],
        notes=tuple(json.loads(row["notes"])),
        missing=tuple(json.loads(row["missing_layers"])),
    )


def moment(text: str | None) -> datetime | None:
    """Return the time in a cell of the database, or None if the cell is empty."""
    return datetime.fromisoformat(text) if text else None


@lru_cache(maxsize=64)
def _environment(record: str) -> Environment:
    return Environment.from_dict(json.loads(record))


def _verdict(row: sqlite3.Row) -> Verdict:
    rounds = tuple(
        Round(pair, Reading(*turns[:3]), Reading(*turns[3:]), first)
        for pair, *turns, first in json.loads(row["rounds"])
    )
    attempt = Attempt(
        status=Status(row["status"]),
        rationale=row["rationale"],
        help=row["help"],
        speed=_speed(row),
        rounds=rounds,
        control=Control(**control) if (control := json.loads(row["control"])) else None,
        cases_passed=row["cases_passed"],
        cases=row["cases"],
        output_tail=row["output_tail"],
    )
    cost = Cost(row["cost"]) if row["cost"] is not None else None
    return Verdict(row["task"], row["points"], row["max_points"], cost, attempt)


def _speed(row: sqlite3.Row) -> Speed | None:
    if row["tier"] is None:
        return None
    # SQLite keeps not-a-number as NULL.
    ratio, low, high = (math.nan if row[name] is None else row[name] for name in ("ratio", "low", "high"))
    return Speed(ratio, low, high, row["rounds_played"], row["tier"], bool(row["undecided"]))
