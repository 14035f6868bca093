"""The attempts of students as the database has them, those of team mates included, and which of them may not count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from grader.course import quota
from grader.course.course_file import Course
from grader.course.dates import LocalTime
from grader.course.policy import DateRule, Handed
from grader.course.quota import TokenBucket
from grader.course.results import HandIn, SetAside
from grader.records import TimeSource

_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)
_SOURCES = (TimeSource.FILE, TimeSource.FOLDER, TimeSource.PLATFORM)
"""The sources of a time, the best last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAttempt(Handed):
    """One attempt of a student, with the number (`grading`) and points of the newest grading of its file, or None.

    `points` is also None after an internal error. `by_task` has the points of each task. `regraded` is the number of
    times that the file was graded again. `untouched` is True if the student has not written any function in the file
    yet. `was_faulted` is True if the machine ever failed to grade the file.
    """

    hand_in: HandIn
    grading: int | None
    untouched: bool = False
    regraded: int = 0
    by_task: Mapping[str, float] = field(default_factory=dict)
    was_faulted: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The student and the lesson."""
        return self.hand_in.student, self.hand_in.lesson

    @property
    def costs(self) -> bool:
        """Whether the attempt takes a token of a quota. What was refused, or what the machine caused, costs nothing.

        A file that the machine failed to grade once stays free, so that a later grading takes no token from others.
        """
        return not (self.refused or self.was_faulted)


def with_team_mates(rows: Sequence[StoredAttempt], course: Course) -> list[StoredAttempt]:
    """Return all attempts, and each attempt of a team also for the other members, sorted by student and lesson.

    If team mates handed in equal content, it is one attempt, at the time that would count for one student. An attempt
    that is struck for its sender does not count for the team.
    """
    found: dict[tuple[str, str, str], StoredAttempt] = {}
    for row in rows:
        student, lesson = row.key
        team = course.team(student, lesson)
        for one in team.students if team else (student,):
            if one != student and course.strikes(student, lesson, row.hand_in.sha256):
                continue
            given = row.hand_in if one == student else replace(row.hand_in, student=one, by=student)
            key = (one, lesson, given.content)
            found[key] = _as_one(found.get(key), replace(row, hand_in=given))
    return sorted(found.values(), key=lambda row: (row.key, row.at or _BEFORE_ALL))


def _as_one(first: StoredAttempt | None, second: StoredAttempt) -> StoredAttempt:
    if first is None:
        return second
    early = max((first, second), key=_rank)
    there = next((row for row in (early, first, second) if row.there), early)
    return replace(there, at=early.at, time_source=early.time_source, hand_in=replace(there.hand_in, at=early.at))


def _rank(row: StoredAttempt) -> tuple[bool, int, float]:
    source = _SOURCES.index(row.time_source) if row.time_source in _SOURCES else -1
    return row.at is not None, source, -(row.at or _BEFORE_ALL).timestamp()


@dataclass(frozen=True, slots=True)
class Admitted:
    """The attempts of a student at a lesson that may count, those that may not, and the tokens of the quota, if any."""

    attempts: tuple[StoredAttempt, ...]
    set_aside: tuple[SetAside, ...]
    bucket: TokenBucket | None


def admit(rows: Sequence[StoredAttempt], course: Course, rule: DateRule) -> Admitted:
    """Return which attempts of one student at one lesson may count, by the opening date and the quota, in their order.

    Attempts that the course file strikes are left out.
    """
    given = [row for row in rows if not course.strikes(*row.key, row.hand_in.sha256)]
    early = [row for row in given if rule.opens and row.at and row.at < rule.opens.utc]
    why = {id(row): f"The lesson opens {rule.opens}. This file was handed in {_time(row, course)}." for row in early}
    tokens, bucket = course.quota(rows[0].hand_in.lesson) if rows else None, None
    if tokens:
        open_ = sorted((row for row in given if id(row) not in why), key=lambda row: row.at or _BEFORE_ALL)
        within, bucket = quota.fill(tokens, [(row.at, row.costs) for row in open_])
        why |= {id(row): tokens.why_not(row.at) for row, is_in in zip(open_, within, strict=True) if not is_in}
    set_aside = (
        SetAside(*row.key, row.hand_in.path, row.hand_in.sha256, why[id(row)]) for row in given if id(row) in why
    )
    return Admitted(tuple(row for row in given if id(row) not in why), tuple(set_aside), bucket)


def _time(row: StoredAttempt, course: Course) -> str:
    return str(LocalTime.at_utc(row.at, course.zone)) if row.at else "at an unknown time"
