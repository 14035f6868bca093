"""What a student's pages show of a course, as values without HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Final

from grader.class_run import class_roll
from grader.class_run.grading import Key
from grader.class_run.hand_in_now import HandInNow, hand_in_now
from grader.class_run.standing import StudentLesson
from grader.class_run.stored_attempts import StoredAttempt, with_team_mates
from grader.course.policy import DateRule, Which
from grader.course.roll import Roll
from grader.reports import grade_texts, student_page
from grader.server import events
from grader.server.course_folder import OpenCourse
from grader.server.intake import Receipt
from grader.server.queue import QueuePlace
from grader.server.zones import ReaderZone
from harness.rendering import units
from harness.rendering.texts import shown

WHICH: Final = {
    Which.LATEST: "The latest attempt counts.",
    Which.BEST: "The attempt with the most points counts, after points are taken off for lateness.",
    Which.FIRST: "The first attempt counts.",
    Which.CHOSEN: "The attempt that you choose counts, or the latest if you choose none.",
}
HIDDEN: Final = "Handed in. Your teacher has not released the results yet."


@dataclass(frozen=True, slots=True)
class State:
    """A sentence on a hand-in or a lesson, and its CSS class.

    `wait_id` is set if a live message may replace the sentence. `is_graded` is set if the report has the result.
    """

    text: str
    css_class: str = "none"
    wait_id: str = ""
    is_graded: bool = False


@dataclass(frozen=True, slots=True)
class LessonRow:
    """A lesson of a student: its dates, what handing in now would mean, the points so far, and its state.

    `points` is None without a grade. `is_closed` and `is_early` compare the present with the dates.
    """

    lesson: str
    title: str
    rule: DateRule
    now: HandInNow
    is_early: bool
    is_closed: bool
    points: float | None
    possible: float
    state: State

    def if_handed_in(self, reader: ReaderZone) -> str:
        """Return what handing in now would cost, and how many attempts are left, as sentences."""
        if self.is_early and self.rule.opens:
            return f"The lesson opens {reader.moment(self.rule.opens.utc)}."
        if self.is_closed and self.rule.closes:
            return f"The lesson closed {reader.moment(self.rule.closes.utc)}."
        if self.now.why_not:
            return self.now.why_not
        left = ""
        if self.now.tokens is not None:
            left = f" {units.some(self.now.tokens, 'attempt')} left."
            if self.now.next_token:
                left += f" One more comes {reader.moment(self.now.next_token)}."
        return f"{self.now.lateness[:1].upper()}{self.now.lateness[1:]}.{left}"


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """An attempt at a lesson: its number in order of time, its file, whether it counts, and its state.

    `by` is the team mate who handed it in, or "".
    """

    number: int
    at: datetime | None
    file: str
    sha256: str
    by: str
    lateness: str
    counts: bool
    state: State


@dataclass(frozen=True, slots=True)
class Total:
    """A student's points so far and the points possible, and the total of the course if it has a rule, as texts."""

    points: str
    possible: str
    course: str


@dataclass(frozen=True, slots=True)
class StudentView:
    """A student's part of a course at the time `now`. `roll` has no hidden results. `attempts` are by lesson."""

    student: str
    roll: Roll
    attempts: Mapping[str, list[StoredAttempt]]
    lessons: Mapping[str, StudentLesson]
    places: Mapping[Key, QueuePlace]
    now: datetime

    @classmethod
    def read(cls, opened: OpenCourse, student: str, places: Mapping[Key, QueuePlace], now: datetime) -> "StudentView":
        """Return a student's part of an open course."""
        course = opened.book.course()
        every, found = class_roll.student_lessons_of(opened.db, course, [student])
        attempts: dict[str, list[StoredAttempt]] = {}
        for one in with_team_mates(every, course):
            if one.hand_in.student == student:
                attempts.setdefault(one.hand_in.lesson, []).append(one)
        roll = opened.book.roll(student).published()
        return cls(student, roll, attempts, {one.lesson: one for one in found}, places, now)

    def total(self) -> Total:
        """Return the student's total."""
        given = [one for one in self.roll.gradebook()[self.student].values() if one is not None]
        possible = sum(self.roll.possible(lesson) for lesson in self.roll.lessons)
        course = grade_texts.percent(grade_texts.totals(self.roll).get(self.student))
        return Total(grade_texts.points(sum(given)), grade_texts.points(possible), course)

    def row(self, lesson: str) -> LessonRow:
        """Return a lesson of the student."""
        course, of_lesson = self.roll.course, self.lessons.get(lesson)
        rule = of_lesson.rule if of_lesson else course.rule(self.student, lesson)
        return LessonRow(
            lesson,
            grade_texts.title(lesson),
            rule,
            hand_in_now(self.attempts.get(lesson, ()), course, self.student, lesson, self.now),
            rule.opens is not None and self.now < rule.opens.utc,
            rule.is_closed(self.now),
            self.roll.gradebook()[self.student].get(lesson),
            self.roll.possible(lesson),
            self._state(lesson, of_lesson),
        )

    def _state(self, lesson: str, of_lesson: StudentLesson | None) -> State:
        may_count = of_lesson.may_count if of_lesson else ()
        for one in may_count:
            if one.points is None and ((lesson, one.hand_in.content) in self.places or one.grading is None):
                return self._waiting(lesson, one.hand_in.content)
        if may_count and self.roll.course.hides(lesson):
            return State(HIDDEN)
        result = grade_texts.lesson_result(self.roll, lesson)
        return State(f"{result.status[:1].upper()}{result.status[1:]}.", result.css_class)

    def _waiting(self, lesson: str, content: str) -> State:
        text = events.wait_text(self.places.get((lesson, content)))
        return State(text, "edge", events.wait_id(lesson, content))

    def attempt_rows(self, lesson: str) -> list[AttemptRow]:
        """Return the student's attempts at a lesson, the newest first."""
        of_lesson, rule = self.lessons.get(lesson), self.row(lesson).rule
        chosen = of_lesson.chosen if of_lesson and not self.roll.course.hides(lesson) else None
        return [
            AttemptRow(
                number,
                one.at,
                PurePosixPath(one.hand_in.path).name,
                one.hand_in.sha256,
                one.hand_in.by,
                student_page.lateness(one.at, rule).removeprefix(", ") if one.at else "at an unknown time",
                chosen is not None and chosen.hand_in == one.hand_in,
                self._attempt_state(one, of_lesson),
            )
            for number, one in reversed([*enumerate(self.attempts.get(lesson, ()), 1)])
        ]

    def _attempt_state(self, one: StoredAttempt, of_lesson: StudentLesson | None) -> State:
        lesson, content, sha256 = one.hand_in.lesson, one.hand_in.content, one.hand_in.sha256
        aside = {out.sha256: out.why for out in of_lesson.set_aside} if of_lesson else {}
        if sha256 in aside:
            return State(f"Does not count. {aside[sha256]}", "poor")
        if self.roll.course.strikes(self.student, lesson, sha256):
            return State("Does not count, because your teacher excluded it.", "poor")
        if (lesson, content) in self.places:
            return self._waiting(lesson, content)
        if one.refused:
            return State("Refused: it cannot be graded.", "poor")
        if one.points is not None:
            if self.roll.course.hides(lesson):
                return State(HIDDEN)
            css_class = "part" if one.points else "poor"
            return State(f"Graded: {grade_texts.points(one.points)} points earned.", css_class)
        if not one.there:
            return State("Its file was replaced, so it cannot count.")
        if one.grading is not None:
            return State("The grader failed. This costs you nothing, and your teacher can see it.", "alarm")
        if of_lesson is not None and one in of_lesson.may_count:
            return self._waiting(lesson, content)
        return State("Not graded, because another attempt counts.")

    def receipt_states(self, receipt: Receipt) -> list[tuple[str, State]]:
        """Return the lesson and the state of each thing that was found in the file of a receipt. A lesson may be ""."""
        found = [(lesson, self._found(lesson, content, note)) for lesson, content, note in receipt.found or ()]
        return found + [("", state) for _, state in unread([receipt])]

    def _found(self, lesson: str, content: str, note: str) -> State:
        if note:
            return State(note, "poor" if content else "none")
        of_lesson = self.lessons.get(lesson)
        one = next((one for one in self.attempts.get(lesson, ()) if one.hand_in.content == content), None)
        if one is None:
            return State("This lesson does not count in your course.")
        if of_lesson and of_lesson.chosen and of_lesson.chosen.hand_in == one.hand_in and one.points is not None:
            is_hidden = self.roll.course.hides(lesson)
            return State(HIDDEN) if is_hidden else State("Graded, and it counts.", "good", is_graded=True)
        return self._attempt_state(one, of_lesson)


def unread(receipts: Sequence[Receipt]) -> list[tuple[str, State]]:
    """Return the names and states of the files that wait to be read."""
    waiting = [one for one in receipts if one.found is None]
    return [(one.name, State(events.READING, "edge", events.receipt_id(one.number))) for one in waiting]


def receipt_text(receipt: Receipt, title: str, arrived: str) -> str:
    """Return a receipt as plain text. `arrived` is the time of arrival in the student's time zone."""
    in_utc = receipt.at.astimezone(UTC).isoformat(timespec="seconds")
    lines = {
        "Course": title,
        "Student": receipt.student,
        "File": f"{receipt.name}, {receipt.size} bytes",
        "Arrived": f"{arrived} ({in_utc})",
        "SHA-256": receipt.sha256,
    }
    rest = "".join(f"{name + ':':<9} {shown(text)}\n" for name, text in lines.items() if text)
    return f"Receipt {receipt.number}\n\n{rest}\nTo compare it with your file: sha256sum FILE\n"
