"""What passes between the stages of grading: one frozen type a stage, units in the field names.

Submission → Attempt → Verdict → Report. Raw rounds are kept in the attempt; every statistic derives from them.
"""

import traceback
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from harness.decide import BENEFIT
from harness.environment import Environment
from harness.rounds import Round


class Status(StrEnum):
    """How one task ended. Only PASSED and UNDECIDED earn points."""

    PASSED = "passed"
    WRONG = "wrong"
    RAISED = "raised"
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    CRASHED = "crashed"
    CHEATED = "cheated"
    UNDECIDED = "undecided"
    GRADER_ERROR = "grader error"


class Cost(StrEnum):
    """What a task's speed is measured in; always compared with the baseline's in the same run.

    TIME is CPU time, which busy neighbours hardly move. WALL_TIME is for work on several threads or on a GPU.
    INSTRUCTIONS are counted by Callgrind, OPCODES by Python's own events. PEAK_MEMORY is what a process had resident at
    once, at most.
    """

    TIME = "time"
    WALL_TIME = "wall time"
    SIMULATED_TIME = "simulated time"
    CALLS = "calls"
    INSTRUCTIONS = "instructions"
    PEAK_MEMORY = "peak memory"
    OPCODES = "opcodes"


CLOCKED = frozenset({Cost.TIME, Cost.WALL_TIME})
"""Costs that a clock tells: never quite the same twice, and another machine's are others."""


_TRACE_CHARACTERS: Final = 4_000


@dataclass(frozen=True, slots=True)
class Fault:
    """An exception of the grader's own: the name of its type, and the end of its traceback.

    Only maintainers read the traceback, in the journal or with `--debug`: a message may quote a hidden case.
    """

    kind: str
    trace: str

    @classmethod
    def of(cls, error: BaseException) -> "Fault":
        """Return what to keep of an exception."""
        return cls(type(error).__name__, "".join(traceback.format_exception(error))[-_TRACE_CHARACTERS:])


@dataclass(frozen=True, slots=True)
class Submission:
    """One hand-in: the source text of one lesson's exercise by one student.

    `path` is where it was found, as shown to people (`ada.zip/04_autorange.py`). `source` is None when there is no
    Python text. Then either `refusal` says why the file was refused, in words for the student, or the grader itself
    failed to read the file, which is the `fault`. `handed_in` is when, in UTC, where that is known; `timed` when a
    folder's name says it and not merely the file's own time.
    """

    student: str
    lesson: str
    path: str
    sha256: str
    source: str | None
    refusal: str = ""
    handed_in: datetime | None = None
    timed: bool = False
    fault: Fault | None = None

    @property
    def refused(self) -> bool:
        """Whether the file was refused; one that the grader failed to read was not."""
        return bool(self.refusal)

    @property
    def content(self) -> str:
        """What a grade belongs to: submissions of one lesson with the same content share one grade.

        It is the SHA-256 of the bytes, and whether they are read as a notebook or as a plain file. A file without
        Python text shares its grade with no other student's, because its refusal names this student's own file.
        """
        if self.source is None:
            return f"{'refused' if self.refused else 'unread'}:{self.student}:{self.sha256}"
        return f"{'ipynb' if self.path.endswith('.ipynb') else 'py'}:{self.sha256}"


@dataclass(frozen=True, slots=True)
class Speed:
    """The measured cost of a right submission: `ratio` is baseline cost ÷ its cost, within [low, high].

    `tier` counts the tiers reached (0: none). `undecided` when the interval straddled a tier at the cap.
    """

    ratio: float
    low: float
    high: float
    rounds: int
    tier: int
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class Control:
    """What a second baseline, and one slowed by a planted part, cost over the first: rightly 1 and 1 + `planted`.

    `holds` unless it is clear that they are not. `voided` counts the duels before whose controls did not hold.
    `benefit` is how many times its ratio a submission may get in doubt: as far as the control itself was in doubt of 1.
    """

    same: float
    slowed: float
    planted: float
    holds: bool
    voided: int = 0
    benefit: float = BENEFIT


@dataclass(frozen=True, slots=True)
class Attempt:
    """What running one task once showed, before any points: the evidence an appeal is answered from."""

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
    """The attempt, scored. `task` is `<lesson>.<task>`."""

    task: str
    points: float
    max_points: float
    cost: Cost | None
    attempt: Attempt

    @property
    def status(self) -> Status:
        """The attempt's status."""
        return self.attempt.status


@dataclass(frozen=True, slots=True)
class Report:
    """Everything said of one submission. `missing` names the layers that the sandbox lacked."""

    submission: Submission
    verdicts: tuple[Verdict, ...]
    environment: Environment
    sandboxed: bool
    duration_s: float
    notes: tuple[str, ...] = field(default=())
    missing: tuple[str, ...] = field(default=())

    @property
    def points(self) -> float:
        """Points earned over all tasks."""
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def max_points(self) -> float:
        """Points that could be earned."""
        return sum(verdict.max_points for verdict in self.verdicts)
