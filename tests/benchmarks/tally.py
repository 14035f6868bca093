"""Count how often each timing tool was wrong about code with a known true cost.

A *slowdown* is the candidate's time divided by the baseline's. The true slowdown is 1.05 if the candidate does 5 % more
work.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness.paired.duel_result import Finding
from harness.paired.noise import p95
from harness.rendering import units
from harness.rendering.tables import Column, Table

MARGIN = 0.02
"""The largest difference that counts as no difference. Users who compare two timings ignore such a difference."""

TITLES = {
    "duel": "duel",
    "paired": "duel, paired",
    "timeit": "timeit, min of 5",
    "blocked": "torch blocked",
    "adaptive": "torch adaptive",
    "pytest-benchmark": "pytest-benchmark",
    "pyperf": "pyperf",
}
"""The tools in the order of every table, and their names in it."""

EDGE = math.log(1.05)
"""The error, as a log ratio, that changes a grade if the nearest tier is 5 % away."""

ROOM = 0.01
"""The distance from the margin within which a true slowdown may get either verdict, except the wrong direction."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A tool's result: the name of its figure (`reading`), the slowdown, and the verdict. A tool may have several
    figures.

    `timing_s` is the wall time of the tool's samples of both sides. `wall_s` is all of its time, with the start of its
    processes.
    """

    reading: str
    slowdown: float
    finding: Finding
    timing_s: float
    wall_s: float


@dataclass(frozen=True, slots=True)
class Trial:
    """One judgement of a tool, and `truth`, the true slowdown."""

    load: str
    work: str
    truth: float
    repetition: int
    tool: str
    judgement: Judgement

    @property
    def false(self) -> bool:
        """Whether the verdict is false: it denies or invents a difference, or has the wrong direction.

        UNDECIDED is never false.
        """
        return self.judgement.finding not in {Finding.UNDECIDED, *true_findings(self.truth)}

    @property
    def missed(self) -> bool:
        """Whether the verdict denies a true difference."""
        return self.false and self.judgement.finding is Finding.SAME

    @property
    def error(self) -> float:
        """The absolute value of log(measured slowdown ÷ true slowdown)."""
        return abs(math.log(self.judgement.slowdown / self.truth))


@dataclass(frozen=True, slots=True)
class Score:
    """The rates of false and undecided verdicts, and the errors, for one figure of one tool.

    Rates are shares of all its verdicts. `false_rate` includes `missed_rate`. `flipped_rate` is the share whose error
    exceeds `EDGE`.
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
    """Return the verdict by a rule of thumb: a difference above the margin is real."""
    if slowdown > 1 + margin:
        return Finding.SLOWER
    return Finding.FASTER if slowdown < 1 / (1 + margin) else Finding.SAME


def true_findings(truth: float) -> frozenset[Finding]:
    """Return the set of right verdicts for a true slowdown. It has two verdicts within `ROOM` of the margin."""
    return frozenset({rule_of_thumb(truth, MARGIN - ROOM + 1e-9), rule_of_thumb(truth, MARGIN + ROOM - 1e-9)})


def score(trials: Sequence[Trial]) -> Score:
    """Return the score of one figure of a tool, from at least one trial. Its times are medians."""
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
    """Return the scores by load and by reading. Loads are in order of first occurrence, readings in the order of
    `TITLES`.
    """
    order = list(TITLES)
    judged = [trial for trial in trials if trial.tool in TITLES]
    sorted_out: dict[str, dict[str, list[Trial]]] = {trial.load: {} for trial in judged}
    for trial in sorted(judged, key=lambda trial: order.index(trial.tool)):
        sorted_out[trial.load].setdefault(trial.judgement.reading, []).append(trial)
    return {load: {what: score(some) for what, some in by_reading.items()} for load, by_reading in sorted_out.items()}


def scoreboard(load: str, by_reading: Mapping[str, Score]) -> Table:
    """Return a table of the score of each tool's figure under one load."""
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
