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
from grader.class_run.roll import HandIn, SameContent, Standing


@dataclass(frozen=True, slots=True)
class Row:
    """One attempt as the journal has it, with the number and points of its content's newest grading, if any.

    `points` is None also for a grading that a fault of the grader's spoilt. `regraded` counts the times that the
    content was graded again, `untouched` says that no task of it was begun.
    """

    hand_in: HandIn
    at: datetime | None
    there: bool
    grading: int | None
    points: float | None
    refused: bool
    untouched: bool = False
    regraded: int = 0

    @property
    def handed(self) -> Handed:
        """What the policy looks at."""
        return Handed(self.at, self.points, self.refused, self.there)


@dataclass(frozen=True, slots=True)
class Stand:
    """How one student stands in one lesson.

    `chosen` is the attempt whose grading is shown, `standing` what counts of it. `may_count` are the attempts that
    may count by the policy. `gone` are those that might have counted, had they been graded before they were replaced.
    """

    standing: Standing | None
    chosen: Row | None
    may_count: tuple[Row, ...]
    gone: tuple[Row, ...] = ()

    @property
    def waiting(self) -> tuple[HandIn, ...]:
        """Hand-ins that were never graded, and on whose grades the policy depends."""
        return tuple(row.hand_in for row in self.may_count if row.grading is None)

    @property
    def needed(self) -> tuple[HandIn, ...]:
        """Hand-ins in the class folder that the next run grades: those without a grade that the policy needs."""
        return tuple(row.hand_in for row in self.may_count if row.points is None and row.there)


def stands(rows: Sequence[Row], course: Course) -> Iterator[Stand]:
    """Yield how each student stands in each lesson; rows of one student and lesson lie together."""
    for (student, lesson), group in groupby(rows, key=lambda row: (row.hand_in.student, row.hand_in.lesson)):
        given = [row for row in group if not course.strikes(student, lesson, row.hand_in.sha256)]
        # A file that was replaced before it had a grade is not there to be graded any more.
        attempts = [row for row in given if row.there or row.points is not None]
        if any(row.there for row in attempts):
            yield _stand(student, lesson, attempts, _gone(given, course.rule(student, lesson)), course)


def struck(rows: Sequence[Row], course: Course) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a sentence on each attempt that the course strikes, and one on each that it names and is not there."""
    found: list[str] = []
    missing: list[str] = []
    for student, lessons in course.struck.items():
        for lesson, begins in ((lesson, one) for lesson, given in lessons.items() for one in given):
            mine = (row.hand_in for row in rows if (row.hand_in.student, row.hand_in.lesson) == (student, lesson))
            paths = [hand_in.path for hand_in in mine if hand_in.sha256.startswith(begins)]
            what = f"struck, as if never handed in: {', '.join(paths)}" if paths else "to be struck, and not there"
            (found if paths else missing).append(f"{student}, {lesson}: {what} (SHA-256 {begins}…)")
    return tuple(found), tuple(missing)


def same_content(rows: Sequence[Row]) -> Iterator[SameContent]:
    """Yield each graded content that several students handed in, by lesson and students."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.grading is not None:
            groups.setdefault((row.hand_in.lesson, row.hand_in.content), []).append(row)
    for (lesson, _), group in sorted(groups.items(), key=lambda one: (one[0][0], one[1][0].hand_in.student)):
        students = tuple(dict.fromkeys(row.hand_in.student for row in group))
        if len(students) > 1:
            yield SameContent(lesson, students, group[0].hand_in.sha256, group[0].untouched, group[0].regraded)


def _stand(student: str, lesson: str, attempts: Sequence[Row], gone: tuple[Row, ...], course: Course) -> Stand:
    rule = course.rule(student, lesson)
    handed = [row.handed for row in attempts]
    may = tuple(attempts[place] for place in policy.candidates(handed, rule))
    counted = policy.count(handed, rule)
    if counted is None or attempts[counted.index].grading is None:
        return Stand(None, None, may, gone)
    chosen = attempts[counted.index]
    late = policy.days_late(chosen.at, rule)
    standing = Standing(
        student, lesson, counted.raw, counted.points, counted.reason, rule.due, chosen.at, late, len(attempts)
    )
    return Stand(standing, chosen, may, gone)


def _gone(rows: Sequence[Row], rule: policy.Rule) -> tuple[Row, ...]:
    """The attempts that would be candidates if they had not been replaced before they were graded."""
    may = policy.candidates([row.handed for row in rows], rule)
    return tuple(rows[place] for place in may if not rows[place].there and rows[place].points is None)
