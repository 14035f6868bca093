"""All students of a class with their submissions and grades. Every report is made from a `Roll` alone.

A `Roll` is read from the database of grades (the journal), so all reports can be made again from one file.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from grader.course.by_hand import HandEntry, in_force
from grader.course.class_commands import ClassCommands
from grader.course.course_file import Course
from grader.course.dates import LocalTime
from grader.course.results import HandIn, LessonStanding, SameContent, SetAside, Span, TaskPoints
from grader.course.roster import NO_ROSTER, Roster
from grader.files import storable
from grader.records import UNGRADED, LeftOut, Report, Sender, Status, Verdict

_OF_RESULTS: Final = ("reports", "waiting", "gone", "standings", "spans", "by_hand")
_OF_BOTH: Final = (*_OF_RESULTS, "set_aside", "sealed")
_OF_A_STUDENT: Final = (*_OF_BOTH, "left_out")
_OF_A_LESSON: Final = (*_OF_BOTH, "tasks", "same_content")
"""Fields of a `Roll` whose items each belong to one student, and those whose items each belong to one lesson."""

_PLAIN = re.compile(r"(?!(con|prn|aux|nul|com\d|lpt\d)$)(?!.*-[0-9a-f]{10}$)[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Roll:
    """The students of a class with their current grades.

    `reports` are the reports on the attempts that count, before penalties. They may lack single measurements, because a
    class has millions. `standings` have the points that count; without them, all earned points count. `waiting` are
    submissions without a grade. `notes` are notes on collecting the submissions. `spans` are the times of the gradings.
    `left_out` are files that are not graded. `gone` are attempts that might have counted, but were replaced before they
    were graded. `struck` has a sentence for each attempt that the course file excludes, and `unmatched` for each such
    attempt, and each chosen attempt, that was not found. `set_aside` are attempts that do not count, because of a quota
    or the opening date. `sealed` are the newest hand-ins of lessons whose results are hidden from students. `commands`
    are the commands that the reports tell the instructor to type. `by_hand` is the history of all points and comments
    that a person gave. `at` is the time at which the class was read. `senders` are those who handed in, as folders and
    platforms name them.
    """

    title: str
    kit: str
    students: tuple[str, ...]
    tasks: tuple[TaskPoints, ...]
    reports: tuple[Report, ...]
    waiting: tuple[HandIn, ...]
    notes: tuple[str, ...]
    standings: tuple[LessonStanding, ...] = ()
    spans: tuple[Span, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    gone: tuple[HandIn, ...] = ()
    same_content: tuple[SameContent, ...] = ()
    struck: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    course: Course = field(default_factory=Course)
    commands: ClassCommands = field(default_factory=ClassCommands)
    by_hand: tuple[HandEntry, ...] = ()
    at: datetime | None = None
    roster: Roster = NO_ROSTER
    senders: tuple[Sender, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    sealed: tuple[HandIn, ...] = ()

    def moment(self, at: datetime) -> str:
        """Return a time as text, in the course's time zone."""
        return str(LocalTime.at_utc(at, self.course.zone))

    @property
    def made(self) -> str:
        """Sentences on the program and the command that made a page, without paths and names, and the last grading."""
        ends = [span.finished for span in self.spans]
        graded = f", last graded on {self.moment(max(ends))}" if ends else ""
        return f"Made by fairclock {self.kit}{self.commands.made_by_verb}{graded}."

    @property
    def lessons(self) -> tuple[str, ...]:
        """The graded lessons of the class, sorted by name."""
        return tuple(sorted({task.lesson for task in self.tasks}))

    def possible(self, lesson: str) -> float:
        """Return the maximum points of a lesson."""
        return sum(task.points for task in self.tasks if task.lesson == lesson)

    @property
    def is_final(self) -> bool:
        """Whether every submission that may count has a final grade. A grade after an internal error is not final."""
        return not self.waiting and not self.faulted

    @property
    def faulted(self) -> tuple[Report, ...]:
        """The reports without a final grade, because of an internal error or a noisy machine."""
        final = {(one.student, one.lesson) for one in self.standings if one.by_hand and one.points is not None}
        given = ((one, one.submission) for one in self.reports if is_faulted(one))
        return tuple(report for report, of in given if (of.student, of.lesson) not in final)

    def only(self, lessons: Collection[str]) -> "Roll":
        """Return a copy that has only these lessons, and no total of the course, which needs all lessons."""
        course = replace(self.course, weights={}, extra_credit=frozenset(), drop_lowest=0)
        return replace(self._kept(_OF_A_LESSON, lambda one: one.lesson in {*lessons, ""}), course=course)

    def published(self) -> "Roll":
        """Return a copy for students, without the results of the lessons that the course hides from them."""
        hidden = {lesson for lesson in self.lessons if self.course.hides(lesson)}
        return self._kept(_OF_RESULTS, lambda one: one.lesson not in hidden) if hidden else self

    def among(self, students: Collection[str]) -> "Roll":
        """Return a copy that has only these students."""
        same = tuple(group for group in self.same_content if set(group.students) <= set(students))
        kept = self._kept(_OF_A_STUDENT, lambda one: one.student in students)
        return replace(kept, students=tuple(filter(students.__contains__, self.students)), same_content=same)

    def _kept(self, fields: Collection[str], is_kept: Callable[[Any], bool]) -> "Roll":
        parts: dict[str, Any] = {
            name: tuple(one for one in getattr(self, name) if is_kept(_given(one))) for name in fields
        }
        return replace(self, **parts)

    def grades(self) -> dict[str, dict[str, float | None]]:
        """Return the points that count, by student and lesson. Lessons that a student did not hand in are left out.

        The points are None for a submission that is not graded yet, and after an internal error.
        """
        table: dict[str, dict[str, float | None]] = {student: {} for student in self.students}
        for hand_in in self.waiting:
            table[hand_in.student][hand_in.lesson] = None
        for report in self.reports:
            table[report.submission.student][report.submission.lesson] = None if is_faulted(report) else report.points
        for hand_in in self.sealed:
            table[hand_in.student].setdefault(hand_in.lesson, None)
        for one in self.standings:
            if one.by_hand or table[one.student].get(one.lesson) is not None:
                table[one.student][one.lesson] = one.points
        return table

    def gradebook(self) -> dict[str, dict[str, float | None]]:
        """Return the points that count, as `grades` does, and 0 for each lesson that a student missed.

        A student of the roster, or of the course file's list, missed a lesson that is due, if the student handed in no
        file that may belong to it. A lesson without a due date is due.
        """
        table, listed = self.grades(), {*self.course.students, *self.roster.students}
        unclear = {(file.student, file.lesson) for file in self.left_out if not file.is_unchanged}
        for student in filter(listed.__contains__, table):
            for lesson in self.lessons:
                due = self.course.rule(student, lesson).due_utc
                handed_in = {(student, lesson), (student, "")} & unclear
                if lesson not in table[student] and not handed_in and not (due and self.at and self.at <= due):
                    table[student][lesson] = 0.0
        return table

    def missing(self) -> dict[str, list[str]]:
        """Return the lessons that each student missed, and that count 0 points for this reason."""
        given = self.grades()
        table = {one: [lesson for lesson in of if lesson not in given[one]] for one, of in self.gradebook().items()}
        return {student: lessons for student, lessons in table.items() if lessons}

    def standings_of(self, student: str) -> dict[str, LessonStanding]:
        """Return a student's result in each lesson, by lesson. Lessons without a grade are left out."""
        return {one.lesson: one for one in self.standings if one.student == student}

    def commands_for(self, student: str, lesson: str) -> ClassCommands:
        """Return the commands of the class folder in which this student's hand-in for a lesson is."""
        own = (span.folder for span in self.spans if (span.student, span.lesson) == (student, lesson))
        return replace(self.commands, folder=next(own, "") or self.commands.folder)

    def marks(self, student: str) -> dict[str, HandEntry]:
        """Return the points by hand of a student, by task."""
        return {one.task: one for one in in_force(self.by_hand) if one.student == student and one.points is not None}

    def verdict(self, student: str, task: str) -> Verdict | None:
        """Return what the grader found for a student's task, or None if there is no grade."""
        own = (one.verdicts for one in self.reports if one.submission.student == student)
        return next((verdict for verdicts in own for verdict in verdicts if verdict.task == task), None)

    def is_settled(self, student: str, lesson: str, task: str = "") -> bool:
        """Return whether a person gave points for a task, or for all tasks of a lesson, after it was last graded."""
        marks = self.marks(student) if self.by_hand else {}
        spans = (span.finished for span in self.spans if (span.student, span.lesson) == (student, lesson))
        graded = max(spans, default=None) if marks else None
        tasks = [task] if task else [one.task for one in self.tasks if one.lesson == lesson]
        given = [marks.get(one) for one in tasks]
        return bool(given) and all(one and (graded is None or one.at >= graded) for one in given)

    def gradings(self) -> Iterator[Report]:
        """Yield each report once, even if several students share the grade."""
        numbers = {(span.student, span.lesson): span.grading for span in self.spans}
        seen: set[int | None] = set()
        for report in self.reports:
            number = numbers.get((report.submission.student, report.submission.lesson))
            if number is None or number not in seen:
                yield report
            seen.add(number)

    def one_by_one(self) -> Iterator[tuple[str, "Roll"]]:
        """Yield each student's name, with a `Roll` of this student alone."""
        parts: dict[str, dict[str, list[object]]] = {name: {} for name in _OF_A_STUDENT}
        for name, of_student in parts.items():
            for part in getattr(self, name):
                of_student.setdefault(_given(part).student, []).append(part)
        whole = replace(self, notes=(), same_content=(), struck=(), unmatched=())
        for student in self.students:
            own: dict[str, Any] = {name: tuple(found.get(student, ())) for name, found in parts.items()}
            yield student, replace(whole, students=(student,), **own)


def _given(part: Any) -> Any:
    return part.submission if isinstance(part, Report) else part


def is_faulted(report: Report) -> bool:
    """Return whether a task has no grade, because of an internal error or a noisy machine. It costs no points."""
    return any(verdict.status in UNGRADED for verdict in report.verdicts)


def is_too_noisy(report: Report) -> bool:
    """Return whether a task has no grade because the machine was too noisy, and none because of an internal error."""
    return {verdict.status for verdict in report.verdicts} & UNGRADED == {Status.TOO_NOISY}


def folder_name(student: str) -> str:
    """Return a folder name for a student that is valid on every file system and different for each student.

    Ten digits of the name's SHA-256 are added to a name with other characters than lower-case letters, digits, `_` and
    `-`, and to a name that already ends in such digits.
    """
    if _PLAIN.fullmatch(student):
        return student
    readable = re.sub(r"[^a-z0-9]+", "-", student.casefold()).strip("-")[:40] or "student"
    return f"{readable}-{hashlib.sha256(storable(student).encode()).hexdigest()[:10]}"
