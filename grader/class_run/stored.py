"""A new grade for the database of a class, and what the database knows of earlier runs."""

from dataclasses import dataclass, field
from datetime import datetime

from grader.class_run import senders
from grader.course.course_file import Course
from grader.course.roll import TaskPoints
from grader.course.roster import NO_ROSTER, Roster
from grader.records import Report, Sender


@dataclass(frozen=True, slots=True)
class Graded:
    """A report, and the UTC times at which its grading began and ended."""

    report: Report
    started: datetime
    finished: datetime


@dataclass(frozen=True, slots=True)
class Remembered:
    """The course file, tasks, leaderboard, students and roster that are stored in an output folder, or empty values."""

    course: Course = field(default_factory=Course)
    tasks: tuple[TaskPoints, ...] = ()
    board: str = ""
    students: tuple[str, ...] = ()
    roster: Roster = NO_ROSTER
    senders: tuple[Sender, ...] = ()

    def students_by(self, roster: Roster) -> list[str]:
        """Return the students with their names by another roster."""
        new = senders.names(self.senders, self.roster, roster)
        return sorted({name for one in self.students for name in new.get(one, {one})} | {*roster.students})
