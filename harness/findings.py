"""What a duel found: one record with all its rounds, and the ways to show it.

Pure: rounds in, text and plain records out. Every figure derives from the rounds, which are kept.
"""

import html
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from statistics import median
from typing import Any, Self

from harness import plots, units
from harness.rounds import Outcome, Reading, Round
from harness.tables import Column, Table


class Finding(StrEnum):
    """How the candidate compares with the baseline."""

    SLOWER = "slower"
    SAME = "same"
    FASTER = "faster"
    UNDECIDED = "undecided"


_FINDING_OF_CELL = (Finding.SLOWER, Finding.SAME, Finding.FASTER)


@dataclass(frozen=True, slots=True, repr=False)
class Duel:
    """How a duel ended. `ratio` is the baseline's cost ÷ the candidate's, within [low, high].

    FASTER and SLOWER say that the whole interval is beyond `margin` (0.01: 1 %), SAME that it is within.
    `hidden_work` says that the CPU clock did not see the candidate's work, so the wall clock counted.
    `twins` tells whether pairs were two processes of their own or two loops in one. `caveat` says why this is
    an estimate only, and is empty when it is none.
    """

    ratio: float
    low: float
    high: float
    verdict: Finding
    margin: float
    hidden_work: bool
    rounds: tuple[Round, ...] = field(hash=False)
    twins: bool = False
    caveat: str = ""

    @classmethod
    def of(cls, outcome: Outcome, margin: float, *, twins: bool = False, caveat: str = "") -> Self:
        """Return the finding of a contest between 1 / (1 + margin) and 1 + margin."""
        known = outcome.estimate
        verdict = Finding.UNDECIDED if outcome.cell is None else _FINDING_OF_CELL[outcome.cell]
        hidden = outcome.hidden_work
        return cls(known.ratio, known.low, known.high, verdict, margin, hidden, outcome.rounds, twins, caveat)

    @property
    def ratios(self) -> tuple[float, ...]:
        """The ratio of each round, on the clock that counted."""
        return tuple(self._ratio(round_) for round_ in self.rounds)

    @property
    def pairs(self) -> int:
        """How many pairs played: each is one sample of memory layout."""
        return len({round_.pair for round_ in self.rounds})

    @property
    def spent_s(self) -> float:
        """Wall seconds of timing."""
        return sum(round_.wall_s for round_ in self.rounds)

    @property
    def candidate_s(self) -> float:
        """Seconds of a call of the candidate, on the clock that counted: the median over the rounds."""
        return median(round_.candidate.call_s(by_wall=self.hidden_work) for round_ in self.rounds)

    @property
    def baseline_s(self) -> float:
        """Seconds of a call of the baseline, likewise."""
        return median(round_.baseline.call_s(by_wall=self.hidden_work) for round_ in self.rounds)

    def __repr__(self) -> str:
        return f"<Duel {self}>"

    def __str__(self) -> str:
        digits = 4 if 0.9 < self.ratio < 1.1 else 3
        interval = f"{units.number(self.low, digits)} to {units.number(self.high, digits)}"
        rounds = units.some(len(self.rounds), "round")
        pairs = f"{units.some(self.pairs, 'pair')} of {'twin processes' if self.twins else 'loops'}"
        effort = f"{rounds}, {pairs}, {units.seconds(self.spent_s, 2)}"
        line = f"{self.verdict.upper()}: {units.ratio(self.ratio, digits)} the baseline ({interval}; {effort})"
        if self.verdict in {Finding.SAME, Finding.UNDECIDED}:
            line += f", margin {units.percent(self.margin)}"
        if self.hidden_work:
            line += ", by the wall clock: the CPU clock misses its work"
        return f"{line}. An estimate: {self.caveat}." if self.caveat else line

    def table(self) -> str:
        """Return the finding, and one line a pair: its rounds, its median ratio, what a call cost each side."""
        by_pair: dict[int, list[Round]] = {}
        for round_ in self.rounds:
            by_pair.setdefault(round_.pair, []).append(round_)
        rows = tuple(
            (
                number + 1,
                len(played),
                median(map(self._ratio, played)),
                median(round_.baseline.call_s(by_wall=self.hidden_work) for round_ in played),
                median(round_.candidate.call_s(by_wall=self.hidden_work) for round_ in played),
            )
            for number, played in by_pair.items()
        )
        columns = (
            Column("pair", units.count),
            Column("rounds", units.count),
            Column("ratio", lambda ratio: units.ratio(ratio, 4)),
            Column("baseline", units.seconds),
            Column("candidate", units.seconds),
        )
        return Table(str(self), columns, rows).to_text()

    def histogram(self, bins: int = 16) -> str:
        """Return the ratios of the rounds as one line of text."""
        return plots.histogram(self.ratios, bins, units.ratio)

    def to_dict(self) -> dict[str, object]:
        """Return all of it, raw rounds included, in types that JSON has; no upper end yet is None."""
        return asdict(self) | {"high": self.high if math.isfinite(self.high) else None}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the duel of which `to_dict` made this record."""
        rounds = tuple(
            Round(one["pair"], Reading(**one["baseline"]), Reading(**one["candidate"]), one["baseline_first"])
            for one in record["rounds"]
        )
        high = math.inf if record["high"] is None else record["high"]
        return cls(**{**record, "rounds": rounds, "high": high, "verdict": Finding(record["verdict"])})

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return f"<pre>{html.escape(self.table())}\n\n{html.escape(self.histogram())}</pre>"

    def _ratio(self, round_: Round) -> float:
        return round_.wall_ratio if self.hidden_work else round_.ratio
