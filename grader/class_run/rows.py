"""The journal's tables, and a report as rows of them: the one place that knows both.

`gradings` has one row a graded submission, `verdicts` one a task of it; `attempts` joins the two for people.
Raw rounds are JSON lists of [pair, baseline CPU s, baseline wall s, baseline calls, candidate CPU s, candidate wall s,
candidate calls, baseline first], and a control is a JSON object, or null where none was played.
"""

import json
import math
import sqlite3
from dataclasses import asdict, replace
from datetime import datetime
from functools import lru_cache

from grader.records import Attempt, Control, Cost, Report, Speed, Status, Submission, Verdict
from grader.text import storable
from harness.environment import Environment
from harness.rounds import Reading, Round

SCHEMA = "4"
"""Version of the tables below; an older journal is brought to it, a newer one is refused."""

Cell = str | int | float | None

OF_A_ROW = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)
"""What SQLite raises for the values of one row. Its other errors concern the whole file: a full disk, a spoilt file."""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE students (name TEXT PRIMARY KEY);
CREATE TABLE tasks (lesson TEXT NOT NULL, task TEXT NOT NULL UNIQUE, points REAL NOT NULL);
CREATE TABLE hand_ins (
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    handed_in_utc TEXT, there INTEGER NOT NULL,
    PRIMARY KEY (student, lesson, sha256)
);
CREATE TABLE notes (note TEXT NOT NULL);
CREATE TABLE gradings (
    id INTEGER PRIMARY KEY,
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    source TEXT, refusal TEXT NOT NULL,
    kit TEXT NOT NULL, sandboxed INTEGER NOT NULL, environment TEXT NOT NULL, notes TEXT NOT NULL,
    missing_layers TEXT NOT NULL,
    started_utc TEXT NOT NULL, finished_utc TEXT NOT NULL, duration_s REAL NOT NULL, faulted INTEGER NOT NULL,
    regrade INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX one_grade ON gradings (student, lesson, sha256, kit, regrade) WHERE NOT faulted;
CREATE INDEX by_hand_in ON gradings (student, lesson, sha256);
CREATE TABLE verdicts (
    grading INTEGER NOT NULL REFERENCES gradings (id), position INTEGER NOT NULL,
    task TEXT NOT NULL, status TEXT NOT NULL, points REAL NOT NULL, max_points REAL NOT NULL, cost TEXT,
    ratio REAL, low REAL, high REAL, rounds_played INTEGER, tier INTEGER, undecided INTEGER,
    cases_passed INTEGER NOT NULL, cases INTEGER NOT NULL,
    rationale TEXT NOT NULL, help TEXT NOT NULL, output_tail TEXT NOT NULL, rounds TEXT NOT NULL,
    control TEXT NOT NULL,
    PRIMARY KEY (grading, position), UNIQUE (grading, task)
);
CREATE VIEW attempts AS SELECT
    student, lesson, task, sha256, status, points, max_points, cost, ratio, low, high, rounds_played, tier,
    undecided, rationale, help, rounds, control, environment, kit, sandboxed, missing_layers, started_utc,
    finished_utc, duration_s, path
    FROM verdicts JOIN gradings ON gradings.id = verdicts.grading ORDER BY gradings.id, position;
"""

INSERT_GRADING = "INSERT INTO gradings VALUES (NULL" + ", ?" * 16 + ")"
INSERT_VERDICT = "INSERT INTO verdicts VALUES (?" + ", ?" * 19 + ")"

TASKS = "SELECT lesson, task, points FROM tasks ORDER BY lesson, rowid"

HAND_IN = """
INSERT INTO hand_ins VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT (student, lesson, sha256) DO UPDATE SET
    path = excluded.path, there = 1,
    handed_in_utc = CASE WHEN ? OR handed_in_utc IS NULL THEN excluded.handed_in_utc
        ELSE min(handed_in_utc, coalesce(excluded.handed_in_utc, handed_in_utc)) END
"""
"""A hand-in that is there. Of the times that its file has had the earliest holds: a later copy is no later hand-in.

The last value says that a folder's name tells the time, which goes before.
"""

_ATTEMPTS = """
SELECT hand_ins.*, grade.id AS grading, coalesce(grade.refusal != '', 0) AS refused,
    CASE WHEN grade.faulted THEN NULL ELSE (SELECT sum(points) FROM verdicts WHERE grading = grade.id) END AS points
FROM hand_ins LEFT JOIN gradings AS grade ON grade.id = (
    SELECT id FROM gradings AS g
    WHERE g.student = hand_ins.student AND g.lesson = hand_ins.lesson AND g.sha256 = hand_ins.sha256
    ORDER BY faulted, id DESC LIMIT 1
) WHERE hand_ins.student {whose} ORDER BY hand_ins.student, hand_ins.lesson, handed_in_utc
"""
ATTEMPTS = _ATTEMPTS.format(whose="IN (SELECT name FROM students)")
"""Every attempt of the class with its latest grade; one that is a fault of ours only where there is no other."""
ATTEMPTS_OF = _ATTEMPTS.format(whose="= ?")
"""The same of one student."""

GRADING = "SELECT gradings.*, (SELECT handed_in_utc FROM hand_ins AS h WHERE h.student = gradings.student "
GRADING += "AND h.lesson = gradings.lesson AND h.sha256 = gradings.sha256) AS handed_in_utc FROM gradings WHERE id = ?"

UPGRADE = {
    "3": """
CREATE TABLE older AS SELECT * FROM hand_ins;
DROP TABLE hand_ins;
CREATE TABLE hand_ins (
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    handed_in_utc TEXT, there INTEGER NOT NULL,
    PRIMARY KEY (student, lesson, sha256)
);
INSERT INTO hand_ins SELECT student, lesson, path, sha256, NULL, 1 FROM older;
DROP TABLE older;
DROP INDEX one_grade;
ALTER TABLE gradings ADD COLUMN regrade INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX one_grade ON gradings (student, lesson, sha256, kit, regrade) WHERE NOT faulted;
UPDATE meta SET value = '4' WHERE key = 'schema';
"""
}
"""What brings a journal of an older version to the next."""

VERDICTS = "SELECT * FROM verdicts WHERE grading = ? ORDER BY position"
VERDICTS_WITHOUT_ROUNDS = """
SELECT task, status, points, max_points, cost, ratio, low, high, rounds_played, tier, undecided, cases_passed, cases,
rationale, help, output_tail, '[]' AS rounds, control FROM verdicts WHERE grading = ? ORDER BY position
"""


def cells(*values: Cell) -> tuple[Cell, ...]:
    """Return values as SQLite can hold them: it takes no text with a lone surrogate."""
    return tuple(storable(value) if isinstance(value, str) else value for value in values)


def of_report(report: Report, *, kit: str, times: tuple[str, str], faulted: bool, regrade: int = 0) -> tuple[Cell, ...]:
    """Return the row of `gradings` without its id."""
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
    )


def of_verdict(verdict: Verdict) -> tuple[Cell, ...]:
    """Return the row of `verdicts` without its grading and position."""
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


def report(db: sqlite3.Connection, row: sqlite3.Row, *, raw: bool = True) -> Report:
    """Return the report that a row of `gradings` and its verdicts were made of; unless `raw`, without its rounds."""
    verdicts = db.execute(VERDICTS if raw else VERDICTS_WITHOUT_ROUNDS, [row["id"]])
    given = [row[name] for name in ("student", "lesson", "path", "sha256", "source", "refusal")]
    at = moment(row["handed_in_utc"])
    return Report(
        submission=replace(Submission(*given), handed_in=at),
        verdicts=tuple(_verdict(verdict) for verdict in verdicts),
        environment=_environment(row["environment"]),
        sandboxed=bool(row["sandboxed"]),
        duration_s=row["duration_s"],
        notes=tuple(json.loads(row["notes"])),
        missing=tuple(json.loads(row["missing_layers"])),
    )


def moment(text: str | None) -> datetime | None:
    """Return the moment that a cell holds."""
    return datetime.fromisoformat(text) if text else None


@lru_cache(maxsize=64)
def _environment(record: str) -> Environment:
    """One object for all reports that one machine made: a class has thousands."""
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
