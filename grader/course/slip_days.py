"""Slip days: days that a student may be late in a course without penalty, and where they save the student most.

What a day saves is counted in the units of the course total, before the lowest lessons are dropped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Final

from grader.course.entries import Entry

MOST_SLIP_DAYS: Final = 365
BEST, CHOSEN = "best", "chosen"


@dataclass(frozen=True, slots=True)
class SlipRule:
    """The `budget` of each student in days, and the most days for one lesson.

    If `spend` is "chosen", at most the days in `chosen` are spent, by student and lesson.
    """

    budget: int = 0
    per_lesson: int = MOST_SLIP_DAYS
    spend: str = BEST
    chosen: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def most(self, student: str, lesson: str) -> int:
        """Return the most days that may be spent on a lesson of a student."""
        own = self.chosen.get(student, {}).get(lesson, 0) if self.spend == CHOSEN else self.per_lesson
        return min(own, self.per_lesson)


@dataclass(frozen=True, slots=True)
class LateLesson:
    """A lesson with its due date. `gains[d]` is what `d` slip days save there, so the first gain is 0."""

    lesson: str
    due: datetime
    gains: tuple[Fraction, ...]


def best(lessons: Sequence[LateLesson], budget: int) -> dict[str, int]:
    """Return the days for each lesson that save most together, at most `budget` days in all.

    Of equal savings, the one with the fewest days is chosen, and then the one that spends more days on the lesson that
    is due earlier.
    """
    ordered = sorted(lessons, key=lambda one: (one.due, one.lesson))
    plans: dict[int, tuple[Fraction, tuple[int, ...]]] = {0: (Fraction(0), ())}  # the best plan by the days it spends
    for one in ordered:
        useful = [days for days, gain in enumerate(one.gains) if not days or gain > max(one.gains[:days])]
        longer: dict[int, tuple[Fraction, tuple[int, ...]]] = {}
        for spent, (saved, plan) in plans.items():
            for days in useful:
                if spent + days <= budget:
                    new = (saved + one.gains[days], (*plan, days))
                    longer[spent + days] = max(new, longer.get(spent + days, new))
        plans = longer
    _, _, plan = max((saved, -spent, plan) for spent, (saved, plan) in plans.items())
    return {one.lesson: days for one, days in zip(ordered, plan, strict=True)}


def read(entry: Entry, lessons: Sequence[str]) -> SlipRule | None:
    """Return the rule of a table of the course file, or None without this table."""
    if not entry.is_given:
        return None
    table = entry.table("budget", "per_lesson", "spend", "chosen")
    if not table["budget"].is_given:
        raise entry.wrong("budget = 4 below it")
    budget = int(table["budget"].number(0, MOST_SLIP_DAYS, whole=True))
    most = int(table["per_lesson"].number(MOST_SLIP_DAYS, MOST_SLIP_DAYS, whole=True))
    spend = table["spend"].one_of(BEST, CHOSEN) or BEST
    if table["chosen"].is_given and spend == BEST:
        raise table["chosen"].wrong('spend = "chosen" above it, because "best" ignores what students choose')
    chosen = {
        who: {lesson: int(one.number(0, most, whole=True)) for lesson, one in own.each(lessons).items()}
        for who, own in table["chosen"].each().items()
    }
    return SlipRule(budget, most, spend, chosen)
