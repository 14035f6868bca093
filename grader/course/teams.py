"""Teams: one hand-in of a member counts for all members. A student can be in another team for each lesson."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.course.entries import Entry
from grader.course.slip_days import MOST_SLIP_DAYS


@dataclass(frozen=True, slots=True)
class Team:
    """Students who hand in together, in some `lessons`, or in all lessons if it has none.

    `slip_days` is the number of slip days that the team has for its lessons instead of its members' own, or None.
    """

    name: str
    students: tuple[str, ...]
    lessons: tuple[str, ...] = ()
    slip_days: int | None = None

    def has(self, student: str, lesson: str) -> bool:
        """Return whether a student is in this team for a lesson."""
        return student in self.students and (not self.lessons or lesson in self.lessons)


def read(table: Entry, lessons: Sequence[str]) -> Mapping[str, Team]:
    """Return the teams of a table of the course file, by name. With `lessons`, a team may only have these lessons."""
    found: dict[str, Team] = {}
    for name, entry in table.each().items():
        one = entry.table("students", "lessons", "slip_days")
        students, own, days = one["students"].names(), one["lessons"].names(), one["slip_days"]
        if not students:
            raise entry.wrong('the members below it, such as students = ["ada", "bob"]')
        if one["lessons"].is_given and (not own or (lessons and set(own) - set(lessons))):
            raise one["lessons"].wrong(f'a list of lessons, such as ["{(*lessons, "04_autorange")[0]}"]')
        budget = int(days.number(0, MOST_SLIP_DAYS, whole=True)) if days.is_given else None
        found[name] = Team(name, students, own, budget)
    return found
