"""The result of each stage of grading, in this order: `Submission`, `Attempt`, `Verdict`, `Report`."""

import json
import traceback
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final

from grader.source import Source
from harness.machine.environment import Environment
from harness.paired.decide import BENEFIT
from harness.paired.rounds import Round


class Status(StrEnum):
    """How the grading of one task ended. Only PASSED, UNDECIDED and IMPOSSIBLE earn points.

    REFUSED: the file cannot be run as a submission, so it was not run. CRASHED: a process of the submission ended or
    did something forbidden. PROTOCOL_VIOLATION: the submission forged an answer, or its messages break the protocol.
    CHEATED is used only with proof. IMPOSSIBLE: right, but faster than the core can be, so the measured time earns no
    points, and a human must decide. TOO_NOISY: other programs disturbed the machine too much for a time measurement, or
    the machine was too slow to grade the hand-in. GRADER_ERROR: the grader failed. Both cost the student nothing.
    """

    PASSED = "passed"
    WRONG = "wrong"
    REFUSED = "refused"
    RAISED = "raised"
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    CRASHED = "crashed"
    PROTOCOL_VIOLATION = "protocol violation"
    CHEATED = "cheated"
    IMPOSSIBLE = "impossible time"
    UNDECIDED = "undecided"
    TOO_NOISY = "machine too noisy"
    GRADER_ERROR = "grader error"


UNGRADED: Final = frozenset({Status.TOO_NOISY, Status.GRADER_ERROR})
"""The task has no grade, for a reason that has nothing to do with the submission. It must be graded again."""


@dataclass(frozen=True)
class Cost:
    """A kind of cost that a task measures, and compares with the baseline's cost. `grader.kinds` defines each.

    `name` stands in reports and files. `clause` states the baseline's cost in relation to a submission's, and `gain` a
    submission's in relation to the baseline's. `clock` is "cpu" or "wall" if a clock measures the cost, or else "".
    `spread` is the relative difference between two measurements of the same code without a clock: 0 for counts.
    """

    name: str
    clause: str
    gain: str
    clock: str = ""
    spread: float = 0.0

    @property
    def margin(self) -> float:
        """The smallest relative distance between a known submission's ratio and a tier.

        A cost that a clock measures varies between runs and machines. Counts repeat exactly.
        """
        return 0.2 if self.clock else 0.1


_TRACE_CHARACTERS: Final = 4_000


@dataclass(frozen=True, slots=True)
class Fault:
    """An exception of the grader itself: the name of its type, and the end of its traceback.

    Only maintainers read the traceback, in the database or with `--debug`, because it may quote a hidden test case.
    """

    kind: str
    trace: str

    @classmethod
    def of(cls, error: BaseException) -> "Fault":
        """Return the exception's type name and the end of its traceback."""
        return cls(type(error).__name__, "".join(traceback.format_exception(error))[-_TRACE_CHARACTERS:])


class TimeSource(StrEnum):
    """The source of a hand-in's time: the learning platform, a folder's name, or the file's own modification time.

    The platform's time is used before a folder's name, and a folder's name before the file's own time. UNKNOWN means
    that there is no time. LATE_MARK means that there is no time, but that the platform marked the hand-in as late.
    """

    PLATFORM = "platform"
    FOLDER = "folder"
    FILE = "file"
    UNKNOWN = "unknown"
    LATE_MARK = "late mark"


@dataclass(frozen=True, slots=True)
class Sender:
    """The person who handed in a file, as the platform or the folder names this person.

    `label` is the student's name in reports if there is no roster. `name` is the full name, if the platform gives one.
    `ids` are numbers, e-mail addresses and logins. All texts are in the Unicode form NFC.
    """

    label: str
    name: str = ""
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Submission:
    """The file that one student handed in for one lesson, with its source text.

    `path` is where the file was found, as shown to people (`ada.zip/04_autorange.py`). `source` is None if there is no
    Python text. Then `refusal` gives the reason, or `fault` the exception with which the grader failed to read it.
    `handed_in` is the time in UTC, or None if unknown, and `time_source` is where this time comes from.
    """

    student: str
    lesson: str
    path: str
    sha256: str
    source: Source | None
    refusal: str = ""
    handed_in: datetime | None = None
    time_source: TimeSource = TimeSource.UNKNOWN
    fault: Fault | None = None

    @property
    def refused(self) -> bool:
        """Whether the file was refused. A file that the grader failed to read was not refused."""
        return bool(self.refusal)

    @property
    def content(self) -> str:
        """The key of the grade: all submissions of a lesson with the same key get the same grade.

        The key is the file's type (notebook or Python file) and the SHA-256 of its bytes. The key of a file without
        Python text also has the student's name, because the refusal names this student's own file.
        """
        if self.source is None:
            return f"{'refused' if self.refused else 'unread'}:{self.student}:{self.sha256}"
        return f"{'ipynb' if self.path.casefold().endswith('.ipynb') else 'py'}:{self.sha256}"


UNCHANGED: Final = "It is the exercise as the kit has it: no code was written in it, so it is no attempt."
"""The reason why an exercise that a student has not changed is not graded."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that is not graded.

    `student` is empty when the file belongs to no student. `lesson` is the lesson that the file resembles, or empty.
    `why` gives the student the reason, with advice. `misnamed` is True if the file seems to be an exercise. `name` is
    the file's name as the student wrote it, without what a platform added. `folder` is the class folder, if known.
    """

    student: str
    path: str
    lesson: str
    why: str
    misnamed: bool
    name: str = ""
    folder: str = ""

    @property
    def is_unchanged(self) -> bool:
        """Whether the file is the exercise as the kit has it."""
        return self.why == UNCHANGED

    @property
    def accepting_line(self) -> str:
        """The line below [files] in the course file that lets the file be graded as `lesson`, or "" if none can."""
        name = json.dumps(self.name or PurePosixPath(self.path).name, ensure_ascii=False)
        accepts = self.lesson and self.misnamed and self.path.casefold().endswith((".py", ".ipynb"))
        return f'{name} = "{self.lesson}"' if accepts else ""


@dataclass(frozen=True, slots=True)
class Speed:
    """The measured cost of a right submission. `ratio` is the baseline's cost divided by the submission's cost.

    The confidence interval of `ratio` is [`low`, `high`]. `tier` is the number of grade thresholds reached. `undecided`
    is True if the interval still contained such a threshold when the measurement ended.
    """

    ratio: float
    low: float
    high: float
    rounds: int
    tier: int
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class Control:
    """A test of the measurement itself: the baseline is compared with itself and with a slowed copy.

    `same` is the cost of a second baseline divided by the cost of the first, ideally 1. `slowed` is the cost of the
    slowed baseline divided by the cost of the first, ideally 1 + `planted`. `holds` is False if one of the two clearly
    differs from its ideal value. `voided` is the number of earlier measurements that failed this test. An undecided
    submission reaches a threshold of at most `benefit` times its ratio. `benefit` grows with the test's uncertainty.

    `most_ratio` is the baseline's cost divided by the shortest time in which this core can compute an answer, if known.
    `impossible` is True if the submission's time was far below this shortest time in each duel whose control passed.
    """

    same: float
    slowed: float
    planted: float
    holds: bool
    voided: int = 0
    benefit: float = BENEFIT
    most_ratio: float | None = None
    impossible: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of running a submission in one task, with all measurements, before points are given."""

    status: Status
    rationale: str = ""
    help: str = ""
    speed: Speed | None = None
    rounds: tuple[Round, ...] = ()
    control: Control | None = None
    cases_passed: int = 0
    cases: int = 0
    output_tail: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one task: the attempt, and the points for it. `task` is `<lesson>.<task>`.

    `cost` is what the ratio compares, or None if an internal error ended the grading.
    """

    task: str
    points: float
    max_points: float
    cost: Cost | None
    attempt: Attempt

    @property
    def status(self) -> Status:
        """How the grading of the task ended, for example passed or crashed."""
        return self.attempt.status


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one submission in all tasks. `missing` names the security layers that the sandbox lacked.

    `remarks` are sentences on cells of a notebook that raised an exception or were not run.
    """

    submission: Submission
    verdicts: tuple[Verdict, ...]
    environment: Environment
    sandboxed: bool
    duration_s: float
    notes: tuple[str, ...] = field(default=())
    missing: tuple[str, ...] = field(default=())
    remarks: tuple[str, ...] = field(default=())

    @property
    def points(self) -> float:
        """The points earned in all tasks together."""
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def max_points(self) -> float:
        """The maximum points of all tasks together."""
        return sum(verdict.max_points for verdict in self.verdicts)
