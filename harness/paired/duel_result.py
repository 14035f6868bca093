"""The result of a duel: its verdict and all its rounds, as text, table, histogram or dictionary."""

import html
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from statistics import median
from typing import Literal, Self

from harness.charts import plots
from harness.paired.rounds import Outcome, Reading, Round, by_pair
from harness.rendering import units
from harness.rendering.tables import Heads, Table


class Finding(StrEnum):
    """The verdict of a duel: whether the candidate is faster or slower than the baseline, or equally fast."""

    SLOWER = "slower"
    SAME = "same"
    FASTER = "faster"
    UNDECIDED = "undecided"


_FINDING_OF_TIER = (Finding.SLOWER, Finding.SAME, Finding.FASTER)


@dataclass(frozen=True, slots=True, repr=False)
class Duel:
    """The result of a duel. `ratio` is the baseline's cost ÷ the candidate's cost, with the interval [low, high].

    FASTER means that the whole interval is above 1 + `margin` (0.01 is 1 %), and SLOWER that it is below 1 / (1 +
    `margin`). SAME means that the whole interval is between these limits. `hidden_work` means that the CPU clock missed
    work of the candidate, so wall times were used. `paired_processes` is False if baseline and candidate ran in the
    same process. `caveat` is the reason why the ratio is only an estimate, or "".
    """

    ratio: float
    low: float
    high: float
    verdict: Finding
    margin: float
    hidden_work: bool
    rounds: tuple[Round, ...] = field(hash=False)
    paired_processes: bool = False
    caveat: str = ""

    @classmethod
    def of(cls, outcome: Outcome, margin: float, *, paired_processes: bool = False, caveat: str = "") -> Self:
        """Return the result of a duel from its measurements with the thresholds 1 / (1 + margin) and 1 + margin."""
        known, hidden = outcome.estimate, outcome.hidden_work
        verdict = Finding.UNDECIDED if outcome.tier_index is None else _FINDING_OF_TIER[outcome.tier_index]
        interval = (known.ratio, known.low, known.high)
        return cls(*interval, verdict, margin, hidden, outcome.rounds, paired_processes, caveat)

    @property
    def ratios(self) -> tuple[float, ...]:
        """The baseline's time ÷ the candidate's time in each round: CPU times, or wall times if `hidden_work`."""
        return tuple(self._ratio(round_) for round_ in self.rounds)

    @property
    def pairs(self) -> int:
        """The number of newly started pairs of baseline and candidate. Each has its own memory layout."""
        return len({round_.pair for round_ in self.rounds})

    @property
    def spent_s(self) -> float:
        """The wall time of all measurements of the duel together, in seconds."""
        return sum(round_.wall_s for round_ in self.rounds)

    @property
    def candidate_s(self) -> float:
        """The candidate's median time per call over all rounds, in seconds, measured with the clock of the ratio."""
        return self._median_s("candidate", self.rounds)

    @property
    def baseline_s(self) -> float:
        """The baseline's median time per call over all rounds, in seconds, measured with the clock of the ratio."""
        return self._median_s("baseline", self.rounds)

    def __repr__(self) -> str:
        return f"<Duel {self}>"

    def __str__(self) -> str:
        digits = 4 if 0.9 < self.ratio < 1.1 else 3
        interval = f"{units.number(self.low, digits)} to {units.number(self.high, digits)}"
        rounds = units.some(len(self.rounds), "round")
        pairs = f"{units.some(self.pairs, 'pair')} of {'processes' if self.paired_processes else 'loops'}"
        effort = f"{rounds}, {pairs}, {units.seconds(self.spent_s, 2)}"
        line = f"{self.verdict.upper()}: {units.ratio(self.ratio, digits)} the baseline ({interval}; {effort})"
        if self.verdict in {Finding.SAME, Finding.UNDECIDED}:
            line += f", margin {units.percent(self.margin)}"
        if self.hidden_work:
            line += ", on the wall clock, because the CPU clock misses work of the candidate"
        return f"{line}. An estimate: {self.caveat}." if self.caveat else line

    def table(self) -> str:
        """Return the verdict, and a table with the number of rounds, the median ratio and the times of each pair."""
        rows = [
            (
                number + 1,
                len(played),
                median(map(self._ratio, played)),
                self._median_s("baseline", played),
                self._median_s("candidate", played),
            )
            for number, played in by_pair(self.rounds).items()
        ]
        columns: Heads = {
            "pair": units.count,
            "rounds": units.count,
            "ratio": lambda ratio: units.ratio(ratio, 4),
            "baseline": units.seconds,
            "candidate": units.seconds,
        }
        return Table.of(str(self), columns, rows).to_text()

    def histogram(self, bins: int = 16) -> str:
        """Return a histogram of all measured ratios as one line of text."""
        return plots.histogram(self.ratios, bins, units.ratio)

    def to_dict(self) -> dict[str, object]:
        """Return the result with all rounds as a dictionary for JSON. `high` is None if the interval has no end."""
        return asdict(self) | {"high": self.high if math.isfinite(self.high) else None}

    def _repr_html_(self) -> str:
        """Return the table and the histogram as HTML for a notebook."""
        return f"<pre>{html.escape(self.table())}\n\n{html.escape(self.histogram())}</pre>"

    def _median_s(self, side: Literal["baseline", "candidate"], rounds: Sequence[Round]) -> float:
        readings: list[Reading] = [getattr(round_, side) for round_ in rounds]
        return median(reading.call_s(by_wall=self.hidden_work) for reading in readings)

    def _ratio(self, round_: Round) -> float:
        return round_.wall_ratio if self.hidden_work else round_.ratio
