"""The syllabi: the lessons of a path, divided into weeks with similar numbers of minutes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise
from typing import Final

from lessons.engine.route import FULL, SHORT, lessons_of
from lessons.guide.contents import LessonPage

MIDTERM_WEEK: Final = 7
PROJECT_STARTS: Final = 8
LONG_WEEKS: Final = 12
SHORT_WEEKS: Final = 4
SHORT_PROJECT_STARTS: Final = 2


@dataclass(frozen=True, slots=True)
class Week:
    """One week of a course: its lessons, and the lessons of the last week, whose recall questions are asked first.

    `event` is a sentence about the midterm or the project, or "".
    """

    number: int
    lessons: tuple[LessonPage, ...]
    before: tuple[LessonPage, ...]
    event: str = ""

    @property
    def class_minutes(self) -> int:
        """The minutes for the lessons of this week."""
        return sum(page.entry.minutes for page in self.lessons)

    @property
    def homework_minutes(self) -> int:
        """The minutes for the exercises of this week."""
        return sum(page.entry.exercise_minutes or 0 for page in self.lessons)

    @property
    def points(self) -> float:
        """The points of the exercises of this week."""
        return sum(page.points for page in self.lessons)

    @property
    def recall_questions(self) -> int:
        """The number of recall questions at the start of this week."""
        return sum(len(page.recall) for page in self.before)


@dataclass(frozen=True, slots=True)
class Syllabus:
    """A course of a few weeks."""

    title: str
    weeks: tuple[Week, ...]

    @property
    def lessons(self) -> tuple[LessonPage, ...]:
        """All lessons of the course, in order."""
        return tuple(page for week in self.weeks for page in week.lessons)

    @property
    def points(self) -> float:
        """The points of all exercises of the course."""
        return sum(week.points for week in self.weeks)

    @property
    def before_midterm(self) -> tuple[LessonPage, ...]:
        """The lessons of the weeks before the midterm. Without a midterm, all lessons."""
        return tuple(page for week in self.weeks[: MIDTERM_WEEK - 1] for page in week.lessons)


def twelve_weeks(pages: Mapping[str, LessonPage]) -> Syllabus:
    """Return the course of the full path. The midterm is in week 7, and week 12 is for the projects."""
    path = [pages[name] for name in lessons_of(FULL)]
    numbers = [number for number in range(1, LONG_WEEKS) if number != MIDTERM_WEEK]
    events = {
        MIDTERM_WEEK: "Midterm, and questions about the lessons so far.",
        PROJECT_STARTS: "Hand out the project.",
        LONG_WEEKS: "The students present their projects.",
    }
    return Syllabus("Twelve weeks: all lessons", _weeks(path, numbers, LONG_WEEKS, events))


def four_weeks(pages: Mapping[str, LessonPage]) -> Syllabus:
    """Return the course of the short path, with the short project. The students present it in the last week."""
    path = [pages[name] for name in lessons_of(SHORT)]
    events = {
        SHORT_PROJECT_STARTS: "Hand out the short project.",
        SHORT_WEEKS: "The students present their projects.",
    }
    return Syllabus("Four weeks: the short path", _weeks(path, list(range(1, SHORT_WEEKS + 1)), SHORT_WEEKS, events))


def _weeks(
    path: Sequence[LessonPage], numbers: Sequence[int], last: int, events: Mapping[int, str]
) -> tuple[Week, ...]:
    parts = dict(zip(numbers, divided(path, [page.minutes for page in path], len(numbers)), strict=True))
    weeks, before = [], tuple[LessonPage, ...]()
    for number in range(1, last + 1):
        lessons = tuple(parts.get(number, ()))
        weeks.append(Week(number, lessons, before, events.get(number, "")))
        before = lessons or before
    return tuple(weeks)


def divided(path: Sequence[LessonPage], minutes: Sequence[int], count: int) -> list[list[LessonPage]]:
    """Return `count` parts of the path, in order. The sum of the squares of their minutes is as small as possible.

    If there are fewer lessons than parts, the last parts are empty.
    """
    before = [0, *accumulate(minutes)]

    def squares(cuts: tuple[int, ...]) -> int:
        return sum((before[end] - before[start]) ** 2 for start, end in pairwise((0, *cuts, len(path))))

    cuts = min(combinations(range(1, len(path)), min(count, len(path)) - 1), key=squares)
    parts = [list(path[start:end]) for start, end in pairwise((0, *cuts, len(path)))]
    return parts + [[] for _ in range(count - len(path))]
