"""Choose the attempt that counts for each student and lesson, by the course rules on dates and attempts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from grader.course import policy
from grader.course.by_hand import HandEntry
from grader.course.course_file import Course
from grader.course.policy import Handed
from grader.course.roll import HandIn, SameContent, Standing, TaskPoints
from grader.records import UNGRADED, Report


@dataclass(frozen=True, slots=True)
class Graded:
    """A report, and the UTC times at which its grading began and ended."""

    report: Report
    started: datetime
    finished: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAttempt(Handed):
    """One attempt of a student, with the number (`grading`) and points of the newest grading of its file, or None.

    `points` is also None after an internal error. `regraded` is the number of times that the file was graded again.
    `untouched` is True if the student has not written any function in the file yet.
    """

    hand_in: HandIn
    grading: int | None
    untouched: bool = False
    regraded: int = 0


@dataclass(frozen=True, slots=True)
class StudentLesson:
    """The attempts of one student at one lesson, and the attempt that counts.

    `chosen` is the attempt whose grade is shown, and `standing` has its points. `may_count` are all attempts that the
    course rules allow to count. `gone` are attempts that might have counted, but were replaced before they were graded.
    """

    standing: Standing | None
    chosen: StoredAttempt | None
    may_count: tuple[StoredAttempt, ...]
    gone: tuple[HandIn, ...]

    @property
    def waiting(self) -> tuple[HandIn, ...]:
        """The submissions that may count but were never graded."""
        return tuple(row.hand_in for row in self.may_count if row.grading is None)

    @property
    def needed(self) -> tuple[HandIn, ...]:
        """The submissions that must be graded: their files exist, they may count, and they have no points."""
        return tuple(row.hand_in for row in self.may_count if row.points is None and row.there)


def student_lessons(rows: Sequence[StoredAttempt], course: Course) -> Iterator[StudentLesson]:
    """Yield the attempt that counts for each student and lesson. Rows of one student and lesson must be adjacent."""
    for (student, lesson), group in groupby(rows, key=lambda row: (row.hand_in.student, row.hand_in.lesson)):
        rule = course.rule(student, lesson)
        given = [row for row in group if not course.strikes(student, lesson, row.hand_in.sha256)]
        # A file that was replaced before it had a grade cannot be graded any more.
        attempts = [row for row in given if row.there or row.points is not None]
        counted = policy.count(attempts, rule)
        if counted is None or not any(row.there for row in attempts):
            continue
        may = tuple(attempts[place] for place in policy.candidates(attempts, rule))
        wanted = (given[place] for place in policy.candidates(given, rule))
        gone = tuple(row.hand_in for row in wanted if not row.there and row.points is None)
        chosen, standing = attempts[counted.index], None
        if chosen.grading is not None:
            late = chosen.late_by_unknown and counted.raw != 0
            points = (counted.raw, counted.points, counted.reason)
            standing = Standing(student, lesson, *points, rule.due_utc, chosen.at, late_by_unknown=late)
        yield StudentLesson(standing, chosen if standing else None, may, gone)


def by_hand(
    marks: Mapping[tuple[str, str], Mapping[str, HandEntry]],
    found: Sequence[StudentLesson],
    reports: Sequence[Report],
    tasks: Sequence[TaskPoints],
    course: Course,
) -> Iterator[Standing]:
    """Yield the result of each student and lesson with points by hand. `marks` has these points by task.

    Points by hand are final. The measured points of the other tasks lose what the course rules take off. The points
    that count are None if one of these tasks has no grade yet.
    """
    there = {(row.hand_in.student, row.hand_in.lesson): one for one in found for row in one.may_count}
    measured = {(one.submission.student, one.submission.lesson): one.verdicts for one in reports}
    for key, of in marks.items():
        one, rule = there.get(key), course.rule(*key)
        given = sum(entry.points or 0.0 for entry in of.values())
        others = [verdict for verdict in measured.get(key, ()) if verdict.task not in of]
        rest, reason = policy.CountedAttempt(0, 0.0, 0.0, ""), f"{given:g} points were given by hand."
        if one and one.chosen and others:
            rest = policy.count([replace(one.chosen, points=sum(v.points for v in others), there=True)], rule) or rest
            reason += f" The other tasks: {rest.reason}" if rest.reason else ""
        is_open = any(task.task not in of for task in tasks if task.lesson == key[1])
        lacks = any(verdict.status in UNGRADED for verdict in others) or (one and one.waiting and is_open)
        raw, points = policy.rounded(given + (rest.raw or 0.0)), policy.rounded(given + (rest.points or 0.0))
        before = (one.standing if one else None) or Standing(*key, None, None, due=rule.due_utc)
        late = before.late_by_unknown and is_open
        yield replace(
            before, raw=raw, points=None if lacks else points, reason=reason, by_hand=True, late_by_unknown=late
        )


def struck(rows: Sequence[StoredAttempt], course: Course) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return sentences on the attempts that the course file excludes: those that exist, and those that do not."""
    found: list[str] = []
    missing: list[str] = []
    every = ((student, lesson, one) for student, of in course.struck.items() for lesson in of for one in of[lesson])
    for student, lesson, begins in every:
        mine = (row.hand_in for row in rows if (row.hand_in.student, row.hand_in.lesson) == (student, lesson))
        paths = ", ".join(hand_in.path for hand_in in mine if hand_in.sha256.startswith(begins))
        what = f"excluded by the course file: {paths}" if paths else "to be excluded, but not found"
        (found if paths else missing).append(f"{student}, {lesson}: attempt {what} (SHA-256 {begins}…)")
    return tuple(found), tuple(missing)


def same_content(rows: Sequence[StoredAttempt]) -> Iterator[SameContent]:
    """Yield each graded file content that several students handed in, sorted by lesson and student."""
    groups: dict[tuple[str, str], list[StoredAttempt]] = {}
    for row in rows:
        if row.grading is not None:
            groups.setdefault((row.hand_in.lesson, row.hand_in.content), []).append(row)
    for (lesson, _), group in sorted(groups.items(), key=lambda one: (one[0][0], one[1][0].hand_in.student)):
        students = tuple(dict.fromkeys(row.hand_in.student for row in group))
        if len(students) > 1:
            yield SameContent(lesson, students, group[0].hand_in.sha256, group[0].untouched, group[0].regraded)
