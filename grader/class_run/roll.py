"""The class roll: who handed in what, and how it was graded. Every report is made from it alone.

A report never looks at the hand-ins themselves: the journal gives a `Roll`, so that all of them can be
rebuilt from one file.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol, TypeVar

from grader.class_run.course import Course
from grader.hand_ins.left_out import LeftOut
from grader.records import Report, Status
from grader.text import storable

_PLAIN = re.compile(r"(?!(con|prn|aux|nul|com\d|lpt\d)$)(?!.*-[0-9a-f]{10}$)[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class HandIn:
    """One attempt at a lesson: where it was found, its SHA-256, and the content that its grade belongs to."""

    student: str
    lesson: str
    path: str
    sha256: str
    content: str = ""


@dataclass(frozen=True, slots=True)
class TaskPoints:
    """A task of the class by its full name, and the points it is worth."""

    lesson: str
    task: str
    points: float


@dataclass(frozen=True, slots=True)
class Standing:
    """What counts of a student's attempts at a lesson: the points earned (`raw`) and those that count, and why.

    Both are None while the attempt has no grade. `reason` is empty where there is nothing to say.
    """

    student: str
    lesson: str
    raw: float | None
    points: float | None
    reason: str = ""
    due: datetime | None = None
    handed_in: datetime | None = None
    days_late: int = 0
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Span:
    """When a report was made, in UTC, from the beginning of its grading to the end.

    `grading` is its number in the journal: students who handed in the same content share one. `regraded` counts the
    times that the content was graded again.
    """

    student: str
    lesson: str
    started: datetime
    finished: datetime
    grading: int | None = None
    regraded: int = 0

    @property
    def duration_s(self) -> float:
        """How long it took, in seconds."""
        return (self.finished - self.started).total_seconds()


@dataclass(frozen=True, slots=True)
class SameContent:
    """Students who handed in the same bytes for a lesson, which were graded once.

    `untouched` says that no task of it was begun, as in the stub that all students get. `regraded` counts the times
    that it was graded again.
    """

    lesson: str
    students: tuple[str, ...]
    sha256: str
    untouched: bool
    regraded: int = 0


@dataclass(frozen=True, slots=True)
class Roll:
    """A class as far as it is graded. `waiting` are hand-ins without a report, `notes` those of `collect`.

    `reports` are those of the attempts that count, with the points earned; `standings` say what of these counts. A
    report without a standing counts as it is. `spans` tell when each of the `reports` was made. Raw rounds may be left
    out of the reports: a class has millions. `left_out` are files that are not graded, `gone` attempts that were
    replaced before they were graded, though the policy asks for them. `struck` are sentences on attempts that the
    course strikes, `unmatched` on those that it would strike and that are not there.
    """

    title: str
    kit: str
    students: tuple[str, ...]
    tasks: tuple[TaskPoints, ...]
    reports: tuple[Report, ...]
    waiting: tuple[HandIn, ...]
    notes: tuple[str, ...]
    standings: tuple[Standing, ...] = ()
    spans: tuple[Span, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    gone: tuple[HandIn, ...] = ()
    same_content: tuple[SameContent, ...] = ()
    struck: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    course: Course = field(default_factory=Course)

    @property
    def lessons(self) -> tuple[str, ...]:
        """Lessons of the class, in order."""
        return tuple(sorted({task.lesson for task in self.tasks}))

    def possible(self, lesson: str) -> float:
        """Points that can be earned in a lesson."""
        return sum(task.points for task in self.tasks if task.lesson == lesson)

    @property
    def is_final(self) -> bool:
        """Whether every hand-in that may count has a grade."""
        return not self.waiting and not any(map(is_faulted, self.reports))

    def only(self, lessons: Sequence[str]) -> "Roll":
        """Return the class as if these were all its lessons."""
        return replace(
            self,
            tasks=tuple(task for task in self.tasks if task.lesson in lessons),
            reports=tuple(report for report in self.reports if report.submission.lesson in lessons),
            waiting=tuple(hand_in for hand_in in self.waiting if hand_in.lesson in lessons),
            gone=tuple(hand_in for hand_in in self.gone if hand_in.lesson in lessons),
            same_content=tuple(group for group in self.same_content if group.lesson in lessons),
            standings=tuple(standing for standing in self.standings if standing.lesson in lessons),
            spans=tuple(span for span in self.spans if span.lesson in lessons),
        )

    def among(self, students: Collection[str]) -> "Roll":
        """Return the class as if these were all its students."""
        return replace(
            self,
            students=tuple(student for student in self.students if student in students),
            reports=tuple(report for report in self.reports if report.submission.student in students),
            waiting=tuple(hand_in for hand_in in self.waiting if hand_in.student in students),
            gone=tuple(hand_in for hand_in in self.gone if hand_in.student in students),
            left_out=tuple(file for file in self.left_out if file.student in students),
            same_content=tuple(group for group in self.same_content if set(group.students) <= set(students)),
            standings=tuple(standing for standing in self.standings if standing.student in students),
            spans=tuple(span for span in self.spans if span.student in students),
        )

    def grades(self) -> dict[str, dict[str, float | None]]:
        """Return the points that count, by student and lesson handed in; None where there is no grade to give (yet)."""
        table: dict[str, dict[str, float | None]] = {student: {} for student in self.students}
        for hand_in in self.waiting:
            table[hand_in.student][hand_in.lesson] = None
        for report in self.reports:
            table[report.submission.student][report.submission.lesson] = None if is_faulted(report) else report.points
        for one in self.standings:
            if table[one.student].get(one.lesson) is not None:
                table[one.student][one.lesson] = one.points
        return table

    def standings_of(self, student: str) -> dict[str, Standing]:
        """Return what counts of a student's attempts, by lesson, where the journal knows."""
        return {one.lesson: one for one in self.standings if one.student == student}

    def by_student(self) -> dict[str, dict[str, Report]]:
        """Return the reports of every student by lesson; of a student without any, nothing."""
        table: dict[str, dict[str, Report]] = {student: {} for student in self.students}
        for report in self.reports:
            table[report.submission.student][report.submission.lesson] = report
        return table

    def gradings(self) -> Iterator[tuple[Report, Span | None]]:
        """Yield each grading once, though several students may share it, with the time that it took."""
        spans = {(span.student, span.lesson): span for span in self.spans}
        seen: set[int] = set()
        for report in self.reports:
            span = spans.get((report.submission.student, report.submission.lesson))
            if span is None or span.grading is None or span.grading not in seen:
                yield report, span
            if span and span.grading is not None:
                seen.add(span.grading)

    def one_by_one(self) -> Iterator[tuple[str, "Roll"]]:
        """Give each student with a class of that student alone, as large as the work on one student needs it."""
        reports = self.by_student()
        waiting, gone = _by_student(self.waiting), _by_student(self.gone)
        spans, standings, left_out = _by_student(self.spans), _by_student(self.standings), _by_student(self.left_out)
        for student in self.students:
            alone = replace(
                self,
                students=(student,),
                reports=tuple(reports[student].values()),
                waiting=waiting.get(student, ()),
                notes=(),
                spans=spans.get(student, ()),
                standings=standings.get(student, ()),
                left_out=left_out.get(student, ()),
                gone=gone.get(student, ()),
                same_content=(),
                struck=(),
                unmatched=(),
            )
            yield student, alone


class _OfAStudent(Protocol):
    @property
    def student(self) -> str: ...


_Part = TypeVar("_Part", bound=_OfAStudent)


def _by_student(parts: Sequence[_Part]) -> dict[str, tuple[_Part, ...]]:
    table: dict[str, list[_Part]] = {}
    for part in parts:
        table.setdefault(part.student, []).append(part)
    return {student: tuple(own) for student, own in table.items()}


def is_faulted(report: Report) -> bool:
    """Tell whether we failed to grade some of it: it earns and costs no points, and is tried again."""
    return any(verdict.status is Status.GRADER_ERROR for verdict in report.verdicts)


def folder_name(student: str) -> str:
    """Return the name of a student's folder in OUT: safe on every file system, and no two students share one.

    A name of lower-case letters, digits, `_` and `-` is its own; any other is what is left of it plus ten
    digits of its SHA-256. A name that itself ends like that is not its own either, so nobody can pose as
    another.
    """
    if _PLAIN.fullmatch(student):
        return student
    readable = re.sub(r"[^a-z0-9]+", "-", student.casefold()).strip("-")[:40] or "student"
    return f"{readable}-{hashlib.sha256(storable(student).encode()).hexdigest()[:10]}"
