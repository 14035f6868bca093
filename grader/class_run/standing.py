"""Which attempt of each student counts, and for how much: a course's policy over what the journal holds.

Pure: rows of attempts and a course go in, standings come out. A student who has nothing in the class for a lesson any
more has handed in nothing for it, whatever was there before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from grader.class_run import policy
from grader.class_run.course import Course
from grader.class_run.policy import Handed
from grader.class_run.roll import HandIn, Standing
from grader.records import Submission


@dataclass(frozen=True, slots=True)
class Row:
    """One attempt as the journal has it: its grading's number and points, where it has any."""

    hand_in: HandIn
    at: datetime | None
    there: bool
    grading: int | None
    points: float | None
    refused: bool

    @property
    def handed(self) -> Handed:
        """What the policy looks at."""
        return Handed(self.at, self.points, self.refused, self.there)


@dataclass(frozen=True, slots=True)
class Stand:
    """What counts of one student's attempts at one lesson, and what is still to be graded of them."""

    standing: Standing | None
    grading: int | None
    waiting: tuple[HandIn, ...]


def stands(rows: Sequence[Row], course: Course) -> Iterator[Stand]:
    """Yield how each student stands in each lesson; rows of one student and lesson lie together."""
    for (student, lesson), group in groupby(rows, key=lambda row: (row.hand_in.student, row.hand_in.lesson)):
        # What was replaced before it was graded cannot be graded any more: only the journal's own rows have its source.
        kept = [row for row in group if row.there or row.grading is not None]
        attempts = [row for row in kept if not course.strikes(student, lesson, row.hand_in.sha256)]
        if not any(row.there for row in attempts):
            continue
        rule = course.rule(student, lesson)
        handed = [row.handed for row in attempts]
        may = [attempts[place] for place in policy.candidates(handed, rule)]
        waiting = tuple(row.hand_in for row in may if row.grading is None)
        counted = policy.count(handed, rule)
        if counted is None or attempts[counted.index].grading is None:
            yield Stand(None, None, waiting)
            continue
        chosen = attempts[counted.index]
        late = policy.days_late(chosen.at, rule)
        standing = Standing(
            student, lesson, counted.raw, counted.points, counted.reason, rule.due, chosen.at, late, len(attempts)
        )
        yield Stand(standing, chosen.grading, waiting)


def may_count(submissions: Sequence[Submission], course: Course) -> Iterator[Submission]:
    """Yield those of the attempts in a class that may count, which are those to be graded."""
    for (student, lesson), group in groupby(submissions, key=lambda one: (one.student, one.lesson)):
        attempts = [one for one in group if not course.strikes(student, lesson, one.sha256)]
        handed = [Handed(one.handed_in, None, one.refused) for one in attempts]
        yield from (attempts[place] for place in policy.candidates(handed, course.rule(student, lesson)))


def struck(rows: Sequence[Row], course: Course) -> Iterator[str]:
    """Say of each attempt that the course strikes which it was, or that there is none such."""
    for student, lessons in course.struck.items():
        for lesson, begins in ((lesson, one) for lesson, given in lessons.items() for one in given):
            mine = (row.hand_in for row in rows if (row.hand_in.student, row.hand_in.lesson) == (student, lesson))
            paths = [hand_in.path for hand_in in mine if hand_in.sha256.startswith(begins)]
            what = f"struck, as if never handed in: {', '.join(paths)}" if paths else "to be struck, and not there"
            yield f"{student}, {lesson}: {what} (SHA-256 {begins}…)"
