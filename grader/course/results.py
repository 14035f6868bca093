"""What a class has of each student and lesson: files handed in, results, and the times of gradings."""

from dataclasses import dataclass
from datetime import datetime

from grader.course.policy import NO_SLIP, Slip


@dataclass(frozen=True, slots=True)
class HandIn:
    """One submitted file for a lesson: its path, SHA-256, the key of its grade (`content`), and its class folder.

    `by` is the team mate who handed it in, or "" for the student. `at` is the time in UTC, or None if unknown.
    """

    student: str
    lesson: str
    path: str
    sha256: str
    content: str = ""
    folder: str = ""
    by: str = ""
    at: datetime | None = None

    @property
    def sender(self) -> str:
        """The student who handed in the file."""
        return self.by or self.student


@dataclass(frozen=True, slots=True)
class SetAside:
    """An attempt that the course rules do not let count, with the reason `why`."""

    student: str
    lesson: str
    path: str
    sha256: str
    why: str

    def __str__(self) -> str:
        """Return a sentence on the attempt."""
        return f"{self.lesson}: {self.path} (SHA-256 {self.sha256[:12]}…) does not count. {self.why}"


@dataclass(frozen=True, slots=True)
class TaskPoints:
    """A task that is graded: its lesson, its full name, and its maximum points."""

    lesson: str
    task: str
    points: float


@dataclass(frozen=True, slots=True)
class LessonStanding:
    """A student's result in a lesson: the points earned (`raw`), the points that count, and the reason why they differ.

    Both points are None while an attempt that may count has no grade. `by_hand` is True if a person gave at least a
    part of the points. Then both points contain this part. `late_by_unknown` is True if the learning platform marked
    the hand-in as late without a time, and no person has decided yet. `slip` has the slip days that were spent.
    """

    student: str
    lesson: str
    raw: float | None
    points: float | None
    reason: str = ""
    due: datetime | None = None
    handed_in: datetime | None = None
    by_hand: bool = False
    late_by_unknown: bool = False
    slip: Slip = NO_SLIP


@dataclass(frozen=True, slots=True)
class Span:
    """The start and the end of the grading of one student's submission, in UTC.

    `grading` is its number in the database, which students with equal files share. `regraded` counts later gradings.
    `folder` is the class folder of the submission.
    """

    student: str
    lesson: str
    started: datetime
    finished: datetime
    grading: int | None = None
    regraded: int = 0
    folder: str = ""


@dataclass(frozen=True, slots=True)
class SameContent:
    """Students who handed in equal files for a lesson. The file was graded once, and then `regraded` times.

    `untouched` is True if the file's functions are not written yet.
    """

    lesson: str
    students: tuple[str, ...]
    sha256: str
    untouched: bool
    regraded: int = 0
