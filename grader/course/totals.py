"""Compute a student's total of the course, with the arithmetic as text.

Each lesson counts its share of the maximum points, times its weight. If no lesson has a weight in the course file, each
lesson weighs its maximum points, so the total is the sum of the points. If some lessons have a weight, the others weigh
1. A lesson that was not handed in counts 0. So does, for now, a lesson without a grade; the total is then not final.

Extra credit adds to the sum and not to the possible sum. `drop_lowest` drops the lessons with the lowest shares, but
never extra credit, and never all lessons. Of equal shares, the lesson with the largest weight is dropped, and of equal
weights the first by name. A lesson with a weight of 0, or without points, does not count and is not dropped.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import fsum

from grader.course.course_file import Course
from grader.course.policy import rounded


@dataclass(frozen=True, slots=True)
class CourseTotal:
    """A student's total in units of the weights, and its arithmetic: a line for each lesson, and a line for the sum.

    `percent` is None if nothing is possible. `is_final` is False if a lesson has no grade yet.
    """

    earned: float
    possible: float
    percent: float | None
    is_final: bool
    arithmetic: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    lesson: str
    points: float | None
    maximum: float
    weight: float
    extra: bool
    handed_in: bool

    @property
    def share(self) -> float:
        return (self.points or 0.0) / self.maximum

    @property
    def value(self) -> float:
        return self.share * self.weight


def course_total(
    grades: Mapping[str, float | None],
    possible: Mapping[str, float],
    course: Course,
    title: Callable[[str], str] = str,
) -> CourseTotal:
    """Return the total of a student in the lessons of `possible`, which has their maximum points.

    `grades` has the points that count by lesson, None for a lesson without a grade yet, and no lesson that was not
    handed in. `title` returns a lesson's name in the arithmetic.
    """
    parts = [
        _Part(lesson, grades.get(lesson, 0.0), most, weight, lesson in course.extra_credit, lesson in grades)
        for lesson, most in sorted(possible.items())
        if most > 0 and (weight := weight_of(course, lesson, most)) > 0
    ]
    regular = sorted((one for one in parts if not one.extra), key=lambda one: (one.share, -one.weight))
    dropped = regular[: max(0, min(course.drop_lowest, len(regular) - 1))]
    counted = [one for one in parts if one not in dropped]
    earned, most = fsum(one.value for one in counted), fsum(one.weight for one in counted if not one.extra)
    percent = rounded(100 * earned / most) if most else None
    weighted = bool(course.weights)
    lines = [f"{title(one.lesson)}: {_line(one, dropped=one in dropped, weighted=weighted)}" for one in parts]
    terms = " + ".join(_number(one.value) for one in counted) or "0"
    share = "" if percent is None else f" ({_number(percent)} %)"
    lines.append(f"Total: {terms} = {_number(rounded(earned))} of {_number(most)}{share}")
    is_final = all(one.points is not None for one in parts)
    return CourseTotal(rounded(earned), rounded(most), percent, is_final, tuple(lines))


def weight_of(course: Course, lesson: str, most: float) -> float:
    """Return the weight of a lesson with `most` points in the total."""
    return course.weights.get(lesson, 1.0) if course.weights else most


def _line(one: _Part, *, dropped: bool, weighted: bool) -> str:
    state = "" if one.handed_in else "not handed in, "
    if one.points is None:
        state = "no grade yet, for now "
    points = f"{state}{_number(one.points or 0.0)} of {_number(one.maximum)}"
    if dropped:
        return f"{points}, dropped as one of the lowest"
    extra = ", extra credit" if one.extra else ""
    return f"{points}{extra}, × {_number(one.weight)} = {_number(one.value)}" if weighted else f"{points}{extra}"


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")
