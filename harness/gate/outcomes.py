"""What a run of `pytest --duel BASE` finds: an outcome for each benchmark, the control, and whether the run is red."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class GateVerdict(StrEnum):
    """What was found about one benchmark. HERE is the working tree, and BASE the revision that it is compared with.

    NEW: it raises only with BASE, mostly because BASE lacks what the benchmark needs. BROKEN: it raises here, so its
    test fails. SKIPPED: pytest skips it. FAILED: the process of BASE ended, for example because its memory was full.
    VOID: the control of the run failed, so its times prove nothing.
    """

    FASTER = "faster"
    SAME = "same"
    SLOWER = "slower"
    UNDECIDED = "undecided"
    NEW = "new"
    BROKEN = "broken"
    SKIPPED = "skipped"
    FAILED = "failed"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class Change:
    """The cost here ÷ the cost of BASE, minus 1, with its interval: 0.03 means that the cost is 3 % higher here."""

    measured: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class GateRound:
    """The cost of one call on both sides, measured directly after each other or at the same time, by one pair.

    `base` and `here` are the cost of the run: seconds, instructions or bytes. The wall times are in seconds.
    """

    pair: int
    base: float
    here: float
    base_wall_s: float
    here_wall_s: float


@dataclass(frozen=True, slots=True)
class BenchmarkOutcome:
    """What was found about the benchmark with this name, the node id of its test.

    `base` and `here` are medians of the cost of a call. `why` is a sentence about the verdict, or "". `measured_again`
    is True if a first verdict SLOWER was checked with new processes; then `rounds` has only the second measurement.
    `allowed` is the largest change that the marker of the test allows, or None if it does not say.
    """

    name: str
    verdict: GateVerdict
    change: Change | None = None
    base: float | None = None
    here: float | None = None
    rounds: tuple[GateRound, ...] = ()
    spent_s: float = 0.0
    measured_again: bool = False
    why: str = ""
    allowed: float | None = None

    def limit(self, run: "GateRun") -> float:
        """Return the largest change that is not SLOWER, of this benchmark or else of its run."""
        return run.allowed if self.allowed is None else self.allowed


@dataclass(frozen=True, slots=True)
class GateControl:
    """The comparison of BASE with itself on the benchmark `name`, whose true change is 0.

    `failed` is True if two measurements were both SLOWER, or both FASTER. Then the noise of the machine, or of the
    benchmark, is of a kind that the intervals do not cover, and the whole run is void.
    """

    name: str
    change: Change
    failed: bool


@dataclass(frozen=True, slots=True)
class GateRun:
    """A whole run. `base` is BASE as it was typed, and `commit` its full name, or "" for a wheel.

    `allowed` is the largest change of the cost that is not SLOWER: 0.01 allows 1 %. `cost` is the value of a
    `GateCost`. With `shadow`, the run only reports. With `strict`, UNDECIDED is red, too, if the
    benchmark may be slower.
    """

    base: str
    commit: str
    allowed: float
    cost: str
    outcomes: Sequence[BenchmarkOutcome]
    controls: Sequence[GateControl]
    started: datetime
    spent_s: float
    machine: str
    shadow: bool = False
    strict: bool = False

    @property
    def is_void(self) -> bool:
        """Whether a control failed, so that no verdict of the run holds."""
        return any(control.failed for control in self.controls)

    def is_red(self, outcome: BenchmarkOutcome) -> bool:
        """Whether this outcome makes the run fail."""
        if self.shadow or self.is_void:
            return False
        if self.strict and outcome.verdict is GateVerdict.UNDECIDED:
            return outcome.change is None or outcome.change.high > outcome.limit(self)
        return outcome.verdict in {GateVerdict.SLOWER, GateVerdict.BROKEN}
