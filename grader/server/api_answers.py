"""What the routes for programs answer, as JSON."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel

from grader.class_run.grading import Key
from grader.server.course_folder import OpenCourse
from grader.server.intake import Receipt
from grader.server.queue import QueuePlace


class LinkToken(BaseModel):
    """The token of a personal link."""

    token: str


class ProgramToken(BaseModel):
    """The token with which a program makes its requests, in the header `Authorization: Bearer TOKEN`."""

    token: str


class FoundStatus(StrEnum):
    """What became of an exercise that was found in a file."""

    NO_ATTEMPT = "no attempt"
    WAITING = "waiting"
    GRADED = "graded"
    OTHER_COUNTS = "another attempt counts"
    HIDDEN = "hidden"
    FAILED = "the grader failed"


_NOTES = {
    FoundStatus.OTHER_COUNTS: "Another of your attempts counts, or none by the rules of the course.",
    FoundStatus.HIDDEN: "Your teacher publishes the results later.",
    FoundStatus.FAILED: "The grader could not grade it. This costs you nothing; your teacher sees it.",
}


class Found(BaseModel):
    """An exercise that was found in a file, or a sentence on why none was.

    While it waits, `place` is its place in the queue (0: it is graded now), and `wait_s` the expected seconds until its
    grade. After that, `points` of the `possible` points count for the student, if this attempt counts.
    """

    lesson: str
    status: FoundStatus
    note: str
    place: int | None = None
    wait_s: float | None = None
    points: float | None = None
    possible: float | None = None


class ReceiptAnswer(BaseModel):
    """A receipt. `found` is null while the file waits to be read."""

    number: int
    name: str
    sha256: str
    size: int
    at: datetime
    found: list[Found] | None


class LessonAnswer(BaseModel):
    """A lesson, with the dates and points of one student. `attempts_left` is null without a limit."""

    lesson: str
    due: datetime | None
    closes: datetime | None
    points: float | None
    possible: float
    attempts_left: int | None


class CourseAnswer(BaseModel):
    """The course, and the student who is logged in."""

    title: str
    student: str
    lessons: list[LessonAnswer]


def course(opened: OpenCourse, student: str, now: datetime) -> CourseAnswer:
    """Return the course and the lessons of a student, with the attempts that the quota allows at the time `now`."""
    roll = opened.book.roll(student).published()
    rules, grades = {one: roll.course.rule(student, one) for one in roll.lessons}, roll.grades().get(student, {})
    lessons = [
        LessonAnswer(
            lesson=lesson,
            due=rule.due_utc,
            closes=rule.closes.utc if rule.closes else None,
            points=grades.get(lesson),
            possible=roll.possible(lesson),
            attempts_left=opened.book.hand_in_now(student, lesson, now).tokens,
        )
        for lesson, rule in rules.items()
    ]
    return CourseAnswer(title=roll.title, student=student, lessons=lessons)


def receipt(opened: OpenCourse, given: Receipt, places: Mapping[Key, QueuePlace]) -> ReceiptAnswer:
    """Return a receipt, with the place in the queue or the points of each exercise in the file."""
    found = None if given.found is None else _found(opened, given, places)
    return ReceiptAnswer(
        number=given.number, name=given.name, sha256=given.sha256, size=given.size, at=given.at, found=found
    )


def _found(opened: OpenCourse, given: Receipt, places: Mapping[Key, QueuePlace]) -> list[Found]:
    roll = opened.book.roll(given.student).published()
    grades = roll.grades().get(given.student, {})
    chosen = (of.chosen.hand_in for of in opened.book.student_lessons(given.student) if of.chosen)
    counting = {(hand_in.lesson, hand_in.content) for hand_in in chosen}
    answers = []
    for lesson, content, note in given.found or ():
        key, status = (lesson, content), FoundStatus.OTHER_COUNTS
        if not content:
            status = FoundStatus.NO_ATTEMPT
        elif roll.course.hides(lesson):
            status = FoundStatus.HIDDEN
        elif key in places:
            status = FoundStatus.WAITING
        elif key in counting:
            status = FoundStatus.FAILED if grades.get(lesson) is None else FoundStatus.GRADED
        one = Found(lesson=lesson, status=status, note=" ".join(filter(None, (note, _NOTES.get(status, "")))))
        if status is FoundStatus.WAITING:
            one.place, one.wait_s = places[key].place, places[key].wait.total_seconds()
        if status is FoundStatus.GRADED:
            one.points, one.possible = grades[lesson], roll.possible(lesson)
        answers.append(one)
    return answers
