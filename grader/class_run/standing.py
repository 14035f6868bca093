"""Choose the attempt that counts for each student and lesson, by the course rules on dates and attempts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

from grader.class_run.slip_days import Key, LessonAttempts, spend
from grader.class_run.stored_attempts import Admitted, StoredAttempt, admit, with_team_mates
from grader.course import policy
from grader.course.by_hand import HandEntry
from grader.course.course_file import Course
from grader.course.policy import NO_SLIP, DateRule, Which
from grader.course.results import HandIn, LessonStanding, SameContent, SetAside, TaskPoints
from grader.records import UNGRADED, Report

NONE: Final[Mapping[Any, Any]] = MappingProxyType({})

Marks = Mapping[Key, Mapping[str, HandEntry]]
"""Points by hand, by student and lesson, and then by task."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A report, and the UTC times at which its grading began and ended."""

    report: Report
    started: datetime
    finished: datetime


@dataclass(frozen=True, slots=True)
class StudentLesson:
    """The attempts of one student at one lesson, and the attempt that counts.

    `chosen` is the attempt whose grade is shown, and `standing` has its points. `may_count` are all attempts that the
    course rules allow to count. `gone` are attempts that might have counted, but were replaced before they were graded.
    `set_aside` are attempts that do not count, because of a quota or the opening date.
    """

    student: str
    lesson: str
    rule: DateRule
    standing: LessonStanding | None = None
    chosen: StoredAttempt | None = None
    may_count: tuple[StoredAttempt, ...] = ()
    gone: tuple[HandIn, ...] = ()
    set_aside: tuple[SetAside, ...] = ()

    @property
    def waiting(self) -> tuple[HandIn, ...]:
        """The submissions that may count but were never graded."""
        return tuple(row.hand_in for row in self.may_count if row.grading is None)

    @property
    def needed(self) -> tuple[HandIn, ...]:
        """The submissions that must be graded: their files exist, they may count, and they have no points."""
        return tuple(row.hand_in for row in self.may_count if row.points is None and row.there)


def possible(tasks: Sequence[TaskPoints]) -> dict[str, float]:
    """Return the maximum points of each lesson."""
    found: dict[str, float] = {}
    for task in tasks:
        found[task.lesson] = found.get(task.lesson, 0.0) + task.points
    return found


def student_lessons(
    rows: Sequence[StoredAttempt], course: Course, most: Mapping[str, float] = NONE, marks: Marks = NONE
) -> Iterator[StudentLesson]:
    """Yield the attempt that counts for each student and lesson that has an attempt.

    `rows` have all attempts of these students and their team mates. `most` are the maximum points of the lessons, and
    `marks` the points by hand by student, lesson and task. Both decide where slip days save most.
    """
    found: dict[Key, LessonAttempts] = {}
    for key, group in groupby(with_team_mates(rows, course), key=lambda row: row.key):
        attempts, rule = [*group], course.rule(*key)
        begins = course.choice(*key) if rule.which is Which.CHOSEN else ""
        if begins:
            attempts = [replace(row, chosen=row.hand_in.sha256.startswith(begins)) for row in attempts]
        if any(row.there for row in attempts):
            found[key] = LessonAttempts(admit(attempts, course, rule), rule, frozenset(marks.get(key, ())))
    slips = spend(found, course, most)
    for key, one in found.items():
        yield _student_lesson(key, one.admitted, replace(one.rule, slip=slips.get(key, NO_SLIP)), course)


def _student_lesson(key: Key, admitted: Admitted, rule: DateRule, course: Course) -> StudentLesson:
    given, aside = admitted.attempts, admitted.set_aside
    # A file that was replaced before it had a grade cannot be graded any more.
    attempts = [row for row in given if row.there or row.points is not None]
    counted = policy.count(attempts, rule)
    if counted is None or not any(row.there for row in attempts):
        return StudentLesson(*key, rule, set_aside=aside)
    may = tuple(attempts[place] for place in policy.candidates(attempts, rule))
    wanted = (given[place] for place in policy.candidates(given, rule))
    gone = tuple(row.hand_in for row in wanted if not row.there and row.points is None)
    chosen = attempts[counted.index]
    if chosen.grading is None:
        return StudentLesson(*key, rule, None, None, may, gone, aside)
    late = chosen.late_by_unknown and counted.raw != 0
    reason = " ".join(filter(None, (_handed_in_by(chosen.hand_in, course), counted.reason)))
    of_dates = (rule.due_utc, chosen.at)
    standing = LessonStanding(
        *key, counted.raw, counted.points, reason, *of_dates, late_by_unknown=late, slip=rule.slip
    )
    return StudentLesson(*key, rule, standing, chosen, may, gone, aside)


def _handed_in_by(one: HandIn, course: Course) -> str:
    team = course.team(one.student, one.lesson)
    return f"{one.sender} handed in for team {team.name}." if team else ""


def by_hand(
    marks: Marks,
    found: Sequence[StudentLesson],
    reports: Sequence[Report],
    tasks: Sequence[TaskPoints],
    course: Course,
) -> Iterator[LessonStanding]:
    """Yield the result of each student and lesson with points by hand. `marks` has these points by task.

    Points by hand are final. The measured points of the other tasks lose what the course rules take off. The points
    that count are None if one of these tasks has no grade yet.
    """
    there = {(row.hand_in.student, row.hand_in.lesson): one for one in found for row in one.may_count}
    measured = {(one.submission.student, one.submission.lesson): one.verdicts for one in reports}
    for key, of in marks.items():
        one = there.get(key)
        rule = one.rule if one else course.rule(*key)
        given = sum(entry.points or 0.0 for entry in of.values())
        others = [verdict for verdict in measured.get(key, ()) if verdict.task not in of]
        rest, reason = policy.CountedAttempt(0, 0.0, 0.0, ""), f"{given:g} points were given by hand."
        if one and one.chosen and others:
            rest = policy.count([replace(one.chosen, points=sum(v.points for v in others), there=True)], rule) or rest
            reason += f" The other tasks: {rest.reason}" if rest.reason else ""
        is_open = any(task.task not in of for task in tasks if task.lesson == key[1])
        lacks = any(verdict.status in UNGRADED for verdict in others) or (one and one.waiting and is_open)
        raw, points = policy.rounded(given + (rest.raw or 0.0)), policy.rounded(given + (rest.points or 0.0))
        before = (one.standing if one else None) or LessonStanding(*key, None, None, due=rule.due_utc)
        late = before.late_by_unknown and is_open
        yield replace(
            before, raw=raw, points=None if lacks else points, reason=reason, by_hand=True, late_by_unknown=late
        )


def struck(rows: Sequence[StoredAttempt], course: Course) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return sentences on the attempts that the course file excludes, and on excluded or chosen ones that do not exist.

    `rows` have the attempts of team mates, too.
    """
    excluded = ((who, lesson, one) for who, of in course.struck.items() for lesson in of for one in of[lesson])
    chosen = ((who, lesson, one) for who, of in course.chosen.items() for lesson, one in of.items())
    found: dict[str, list[str]] = {"excluded": [], "chosen": []}
    missing: list[str] = []
    for what, every in (("excluded", excluded), ("chosen", chosen)):
        for student, lesson, begins in every:
            mine = (row.hand_in for row in rows if row.key == (student, lesson))
            paths = ", ".join(hand_in.path for hand_in in mine if hand_in.sha256.startswith(begins))
            said = f"{what} by the course file: {paths}" if paths else f"to be {what}, but not found"
            (found[what] if paths else missing).append(f"{student}, {lesson}: attempt {said} (SHA-256 {begins}…)")
    return tuple(found["excluded"]), tuple(missing)


def same_content(rows: Sequence[StoredAttempt], course: Course) -> Iterator[SameContent]:
    """Yield each graded file content that several students handed in, sorted by lesson and student.

    Of each team, only one student is listed. `rows` have the attempts of each student alone.
    """
    groups: dict[tuple[str, str], list[StoredAttempt]] = {}
    for row in rows:
        if row.grading is not None:
            groups.setdefault((row.hand_in.lesson, row.hand_in.content), []).append(row)
    for (lesson, _), group in sorted(groups.items(), key=lambda one: (one[0][0], one[1][0].hand_in.student)):
        teams: dict[object, str] = {}
        for row in group:
            teams.setdefault(course.team(*row.key) or row.key, row.hand_in.student)
        if len(teams) > 1:
            students = tuple(teams.values())
            yield SameContent(lesson, students, group[0].hand_in.sha256, group[0].untouched, group[0].regraded)
