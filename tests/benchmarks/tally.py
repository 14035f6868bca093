"""What tools said about work whose true cost is known, and how often each was wrong. Pure.

A *slowdown* is the candidate's time ÷ the baseline's: the truth is 1.05 where the candidate does 5 % more work.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness import units
from harness.findings import Finding
from harness.noise import p95
from harness.tables import Column, Table

MARGIN = 0.02
"""A difference up to this is none: what a user who compares two timings by eye would not call a change."""

TITLES = {
    "ours": "ours",
    "twins": "ours, twins",
    "timeit": "timeit, min of 5",
    "blocked": "torch blocked",
    "adaptive": "torch adaptive",
    "pytest-benchmark": "pytest-benchmark",
    "pyperf": "pyperf",
}
"""The tools, in the order of every table, and their names in it."""

EDGE = math.log(1.05)
"""An error, as a log ratio, beyond which a grade flips whose tier is 5 % away."""

ROOM = 0.01
"""A truth within this of the margin may be called either way; only the wrong direction is false there."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a tool says: its `reading` (a tool may print several figures), the slowdown, and what follows from it.

    `timing_s` is wall time of the samples the tool counts, of both sides; `wall_s` is all it took, the start of its
    processes included.
    """

    reading: str
    slowdown: float
    finding: Finding
    timing_s: float
    wall_s: float


@dataclass(frozen=True, slots=True)
class Trial:
    """One judgement, and what it was about. `truth` is the true slowdown."""

    load: str
    work: str
    truth: float
    repetition: int
    tool: str
    judgement: Judgement

    @property
    def false(self) -> bool:
        """Whether it claims what is not so: a difference where none is, none where one is, or the wrong direction.

        UNDECIDED claims nothing.
        """
        return self.judgement.finding not in {Finding.UNDECIDED, *true_findings(self.truth)}

    @property
    def missed(self) -> bool:
        """Whether it calls a true difference none."""
        return self.false and self.judgement.finding is Finding.SAME

    @property
    def error(self) -> float:
        """How far the measured slowdown is from the true one: the absolute value of log(measured ÷ true)."""
        return abs(math.log(self.judgement.slowdown / self.truth))


@dataclass(frozen=True, slots=True)
class Score:
    """How one reading of one tool did. Rates are shares of all its verdicts; `false_rate` includes `missed_rate`.

    `flipped_rate` is the share whose error exceeds `EDGE`.
    """

    verdicts: int
    false_rate: float
    missed_rate: float
    undecided_rate: float
    error_median: float
    error_p95: float
    error_worst: float
    flipped_rate: float
    timing_s: float
    wall_s: float


def rule_of_thumb(slowdown: float, margin: float = MARGIN) -> Finding:
    """Return the verdict of a user who has two times: a difference beyond the margin is one."""
    if slowdown > 1 + margin:
        return Finding.SLOWER
    return Finding.FASTER if slowdown < 1 / (1 + margin) else Finding.SAME


def true_findings(truth: float) -> frozenset[Finding]:
    """Return what may be said of a true slowdown: two things where it is within `ROOM` of the margin."""
    return frozenset({rule_of_thumb(truth, MARGIN - ROOM + 1e-9), rule_of_thumb(truth, MARGIN + ROOM - 1e-9)})


def score(trials: Sequence[Trial]) -> Score:
    """Sum up the trials of one reading; there must be at least one. Times are medians."""
    errors = [trial.error for trial in trials]
    count = len(trials)
    return Score(
        verdicts=count,
        false_rate=sum(trial.false for trial in trials) / count,
        missed_rate=sum(trial.missed for trial in trials) / count,
        undecided_rate=sum(trial.judgement.finding is Finding.UNDECIDED for trial in trials) / count,
        error_median=median(errors),
        error_p95=p95(errors),
        error_worst=max(errors),
        flipped_rate=sum(error > EDGE for error in errors) / count,
        timing_s=median(trial.judgement.timing_s for trial in trials),
        wall_s=median(trial.judgement.wall_s for trial in trials),
    )


def scores(trials: Sequence[Trial]) -> dict[str, dict[str, Score]]:
    """Return load → reading → score: loads as they first occur, readings in the order of `TITLES`."""
    order = list(TITLES)
    judged = [trial for trial in trials if trial.tool in TITLES]
    sorted_out: dict[str, dict[str, list[Trial]]] = {trial.load: {} for trial in judged}
    for trial in sorted(judged, key=lambda trial: order.index(trial.tool)):
        sorted_out[trial.load].setdefault(trial.judgement.reading, []).append(trial)
    return {load: {what: score(some) for what, some in by_reading.items()} for load, by_reading in sorted_out.items()}


def scoreboard(load: str, by_reading: Mapping[str, Score]) -> Table:
    """Return how each reading did under one load."""
    columns = (
        Column("tool"),
        Column("verdicts", units.count),
        Column("false", units.percent),
        Column("of it missed", units.percent),
        Column("undecided", units.percent),
        Column("error median", units.percent),
        Column("p95", units.percent),
        Column("worst", units.percent),
        Column("off by 5 %", units.percent),
        Column("timing", units.seconds),
        Column("in all", units.seconds),
    )
    rows = tuple(
        (
            reading,
            known.verdicts,
            known.false_rate,
            known.missed_rate,
            known.undecided_rate,
            known.error_median,
            known.error_p95,
            known.error_worst,
            known.flipped_rate,
            known.timing_s,
            known.wall_s,
        )
        for reading, known in by_reading.items()
    )
    return Table(f"Machine: {load}", columns, rows)
