"""Gradings that are held: another grading of a file that has a grade, stored with all rounds, which does not count yet.

A person reads what would change, and then publishes or discards the held gradings. A discarded grading stays in the
database and never counts.
"""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grader.course.roll import Roll
from grader.course.totals import course_total
from grader.records import Verdict

COUNTS, HELD, DISCARDED = "counts", "held", "discarded"
"""The values of the column `state` of the table `gradings`."""

_OF_HELD: Final = "SELECT DISTINCT h.student FROM gradings AS g JOIN hand_ins AS h USING (lesson, content)"


@dataclass(frozen=True, slots=True)
class RegradeChange:
    """What held gradings would change for a student's task, if they were published.

    `before` and `after` are the verdicts on the attempt that counts, or None without a grade. `counted_before` and
    `counted_after` are the points that count in the lesson, after lateness and points by hand. `total_before` and
    `total_after` are the student's total of the course in percent. Each is None while there is no such number.
    """

    student: str
    lesson: str
    task: str
    before: Verdict | None
    after: Verdict | None
    counted_before: float | None
    counted_after: float | None
    total_before: float | None
    total_after: float | None


@dataclass(frozen=True, slots=True)
class HeldGradings:
    """The numbers of all held gradings, and what would change. Gradings that change nothing are in no change."""

    gradings: tuple[int, ...] = ()
    changes: tuple[RegradeChange, ...] = ()


def earlier(db: sqlite3.Connection, key: Sequence[object]) -> tuple[int, int]:
    """Return how many gradings a file has, and how many of them count, by the `key` of its lesson and content."""
    query = "SELECT count(*), count(CASE WHEN state = ? AND NOT faulted THEN 1 END) FROM gradings"
    found, counting = db.execute(f"{query} WHERE lesson = ? AND content = ?", [COUNTS, *key]).fetchone()
    return found, counting


def numbers(db: sqlite3.Connection) -> tuple[int, ...]:
    """Return the numbers of all held gradings."""
    return tuple(number for (number,) in db.execute("SELECT id FROM gradings WHERE state = ? ORDER BY id", [HELD]))


def students(db: sqlite3.Connection) -> list[str]:
    """Return the students who handed in a file that has a held grading."""
    return [name for (name,) in db.execute(f"{_OF_HELD} WHERE g.state = ? ORDER BY 1", [HELD])]


def settle(db: sqlite3.Connection, state: str, chosen: Collection[int] | None) -> int:
    """Give the `chosen` held gradings, or all, the state `COUNTS` or `DISCARDED`. Return how many gradings changed."""
    these = numbers(db) if chosen is None else chosen
    change = "UPDATE gradings SET state = ? WHERE id = ? AND state = ?"
    return db.executemany(change, [(state, number, HELD) for number in these]).rowcount if these else 0


def changes(before: Roll, after: Roll) -> Iterator[RegradeChange]:
    """Yield the changes between the same students with their grades `before` and `after` held gradings count."""
    counted, totals = [roll.grades() for roll in (before, after)], [_totals(roll) for roll in (before, after)]
    verdicts = [_verdicts(roll) for roll in (before, after)]
    for student in before.students:
        for task in before.tasks:
            then, now = (found.get((student, task.task)) for found in verdicts)
            old, new = (found.get(student, {}).get(task.lesson) for found in counted)
            if (_seen(then), old) != (_seen(now), new):
                percent = (of.get(student) for of in totals)
                yield RegradeChange(student, task.lesson, task.task, then, now, old, new, *percent)


def _verdicts(roll: Roll) -> dict[tuple[str, str], Verdict]:
    return {(one.submission.student, verdict.task): verdict for one in roll.reports for verdict in one.verdicts}


def _seen(one: Verdict | None) -> tuple[object, ...]:
    return (one.points, one.status) if one else ()


def _totals(roll: Roll) -> dict[str, float | None]:
    possible = {lesson: roll.possible(lesson) for lesson in roll.lessons}
    return {who: course_total(grades, possible, roll.course).percent for who, grades in roll.grades().items()}
