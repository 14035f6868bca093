"""Compare two pieces of code in a duel. The verdict states which one is faster, or that they are equally fast.

Short blocks of baseline and candidate run one directly after the other, in random order, on several new pairs
(`harness.paired.rounds`, `blocks`). The duel ends when the interval of the ratio lies completely outside or completely
inside a margin (`harness.paired.decide`).
"""

import html
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from statistics import median
from typing import Final, Literal, Self

from harness.charts import plots
from harness.errors import UsageError
from harness.machine import clocks
from harness.machine.clocks import Clock
from harness.paired.blocks import BLOCK_S, DEFAULT_CLOCK, Statement, TimedCode, loop_pairs
from harness.paired.decide import Rules
from harness.paired.rounds import Outcome, Reading, Round, by_pair, contest
from harness.paired.state import describe
from harness.rendering import units

MARGIN: Final = 0.01
"""Smaller relative differences get the verdict SAME (0.01 is 1 %). The margin is twice `LAYOUT_SD`. A duel of usual
length detects a slowdown of 3 % on a busy machine (`tests/benchmarks/verdicts.py --duels` counts how often)."""

LAYOUT_SD: Final = 0.005
"""Standard deviation of the log ratio of two equal pieces of code that newly compiled timing loops and a new setup
cause. If the pairs of a duel differ by more, their measured spread is used."""

SLICE_S: Final = 0.03
"""Seconds for which a pair is timed before the next pair continues. If pairs start fast, each slice has a new pair."""

MIN_ROUNDS: Final = 14
"""Smallest number of rounds of a slice, if the time limit allows it. With half as many, noise that lasts for ten rounds
is not recognised."""

_CONTRADICTING: Final = 10  # a verdict is UNDECIDED if more than one of this many pairs shows the opposite
_ENOUGH_PAIRS, _LARGE = 8, 1.5  # a smaller difference needs so many pairs, if there is time for them
_ENOUGH_ROUNDS: Final = 40  # in this time, a duel has an interval, however long a round takes


class Finding(StrEnum):
    """The verdict of a duel. The first three are in the order of the ratio."""

    SLOWER = "slower"
    SAME = "same"
    FASTER = "faster"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, repr=False)
class Duel:
    """The result of a duel. `ratio` is the baseline's cost ÷ the candidate's cost, with the interval [low, high].

    `low` and `high` are None if there are too few rounds for an interval. FASTER means that the whole interval is above
    1 + `margin` (0.01 is 1 %), SLOWER that it is below 1 / (1 + `margin`), and SAME that it is between these limits.
    `hidden_work` means that the CPU clock missed work of the candidate, so wall times were used. `caveat` is the reason
    why the ratio is only an estimate, or "". `state` says how the cost of a side depends on the number of its calls.
    """

    ratio: float
    low: float | None
    high: float | None
    verdict: Finding
    margin: float
    hidden_work: bool
    rounds: tuple[Round, ...] = field(hash=False)
    caveat: str = ""
    state: str = ""

    @classmethod
    def of(cls, outcome: Outcome, margin: float) -> Self:
        """Return the result of a duel from its measurements."""
        known, hidden = outcome.estimate, outcome.hidden_work
        verdict = Finding.UNDECIDED if outcome.tier_index is None else tuple(Finding)[outcome.tier_index]
        low, high = (known.low, known.high) if known.bounded else (None, None)
        caveat = _contradicting(outcome, verdict) if verdict in {Finding.FASTER, Finding.SLOWER} else ""
        verdict = Finding.UNDECIDED if caveat else verdict
        return cls(known.ratio, low, high, verdict, margin, hidden, outcome.rounds, caveat)

    @property
    def spent_s(self) -> float:
        """The wall time of all measurements in seconds."""
        return sum(round_.wall_s for round_ in self.rounds)

    @property
    def candidate_s(self) -> float:
        """The candidate's median seconds per call over all rounds, measured with the clock of the ratio."""
        return self._median_s("candidate", self.rounds)

    @property
    def baseline_s(self) -> float:
        """The baseline's median seconds per call over all rounds, measured with the clock of the ratio."""
        return self._median_s("baseline", self.rounds)

    def __repr__(self) -> str:
        return f"<Duel {self}>"

    def __str__(self) -> str:
        digits = 4 if 0.9 < self.ratio < 1.1 else 3
        enough_s = units.number(_ENOUGH_ROUNDS * self.spent_s / len(self.rounds), 2)
        interval = f"no interval, because there are too few rounds: use budget_s={enough_s}"
        if self.low is not None and self.high is not None:
            interval = f"{units.number(self.low, digits)} to {units.number(self.high, digits)}"
        rounds = units.some(len(self.rounds), "round")
        pairs = f"{units.some(len(by_pair(self.rounds)), 'pair')} of loops"
        effort = f"{rounds}, {pairs}, {units.seconds(self.spent_s, 2)}"
        line = f"{self.verdict.upper()}: {units.ratio(self.ratio, digits)} the baseline ({interval}; {effort})"
        if self.verdict in {Finding.SAME, Finding.UNDECIDED}:
            line += f", margin {units.percent(self.margin)}"
        if self.hidden_work:
            line += ", on the wall clock, because the CPU clock misses work of the candidate"
        line = f"{line}. An estimate: {self.caveat}." if self.caveat else line
        return f"{line.removesuffix('.')}. {self.state}" if self.state else line

    def table(self) -> str:
        """Return the verdict, and a table with the number of rounds, the median ratio and the times of each pair."""
        from harness.rendering.tables import Heads, Table  # noqa: PLC0415 - `pytest --duel` has no rich

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
        return plots.histogram(list(map(self._ratio, self.rounds)), bins, units.ratio)

    def to_dict(self) -> dict[str, object]:
        """Return the result with all rounds as a dictionary for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        """Return the table and the histogram as HTML for a notebook."""
        return f"<pre>{html.escape(self.table())}\n\n{html.escape(self.histogram())}</pre>"

    def _median_s(self, side: Literal["baseline", "candidate"], rounds: Sequence[Round]) -> float:
        readings: list[Reading] = [getattr(round_, side) for round_ in rounds]
        return median(reading.call_s(by_wall=self.hidden_work) for reading in readings)

    def _ratio(self, round_: Round) -> float:
        return round_.wall_ratio if self.hidden_work else round_.ratio


def duel(
    candidate: Statement,
    baseline: Statement,
    *,
    setup: str = "pass",
    candidate_setup: str = "pass",
    baseline_setup: str = "pass",
    globals: Mapping[str, object] | None = None,  # noqa: A002 - the name that timeit uses
    margin: float = MARGIN,
    budget_s: float = 1.0,
    seed: int | None = None,
    clock: Clock = DEFAULT_CLOCK,
    wall: Clock = clocks.wall,
) -> Duel:
    """Compare two statements or two functions, and return the verdict with all rounds.

    In each pair, baseline and candidate run `setup` and then their own setup. A statement can use the names of its
    setups and of `globals`. `budget_s` limits the wall time of measuring. `clock` is the clock for the ratio. The
    default is the CPU clock of this thread, with one torch thread. With `harness.machine.clocks.wall`, waiting counts
    too. `seed` fixes the random order. The argument `wall` is for tests.

    Raise `UsageError` for code that is not Python. Exceptions of the code are not caught.
    """
    if not (0 < margin < math.inf and 0 < budget_s < math.inf):
        raise UsageError(f"A duel needs a positive margin and budget_s, not {margin} and {budget_s}.")
    rng = random.Random(seed)
    sides = (
        TimedCode("baseline", baseline, f"{setup}\n{baseline_setup}"),
        TimedCode("candidate", candidate, f"{setup}\n{candidate_setup}"),
    )
    with loop_pairs(sides, globals or {}, rng, clock, wall) as pairs:
        thresholds, rules = (1 / (1 + margin), 1 + margin), duel_rules(budget_s, pairs.round_s)
        outcome = contest(pairs.open_pair, thresholds, rules, rng=rng, wall=wall, is_enough=_has_enough_pairs)
    found = Duel.of(outcome, margin)
    return replace(found, state=describe(pairs.first_calls, found.rounds, by_wall=found.hidden_work))


def _has_enough_pairs(outcome: Outcome) -> bool:
    """Return whether a duel may end: the ratio is near 1 or far from 1, or it has many pairs."""
    ratio, is_same = outcome.estimate.ratio, outcome.tier_index == tuple(Finding).index(Finding.SAME)
    return is_same or not 1 / _LARGE < ratio < _LARGE or outcome.estimate.pairs >= _ENOUGH_PAIRS


def _contradicting(outcome: Outcome, verdict: Finding) -> str:
    """Return a text if too many pairs show the opposite of a verdict, or "".

    The interval assumes that the memory layouts of most pairs have little effect. For a call that fills a new array of
    100 numbers, the address of the array changed the ratio by 20 % in either direction, and most pairs then erred.
    """
    pairs = by_pair(outcome.rounds).values()
    ratios = [median(one.wall_ratio if outcome.hidden_work else one.ratio for one in played) for played in pairs]
    opposite = sum(ratio < 1 if verdict is Finding.FASTER else ratio > 1 for ratio in ratios)
    if opposite <= len(ratios) // _CONTRADICTING:
        return ""
    return f"{opposite} of {units.some(len(ratios), 'pair')} showed the opposite, because the memory layout differs"


def duel_rules(budget_s: float = 1.0, round_s: float = 2 * BLOCK_S) -> Rules:
    """Return the rules of a duel whose rounds take `round_s` seconds, with a limit of `budget_s` seconds."""
    usual = Rules()
    fitting = int(budget_s / (usual.min_pairs * round_s))
    slice_s = min(SLICE_S, budget_s / (2 * usual.min_pairs))
    return replace(
        usual,
        layout_sd=LAYOUT_SD,
        min_rounds=max(1, min(MIN_ROUNDS, fitting)),
        slice_s=slice_s,
        max_pairs=math.ceil(budget_s / slice_s),
        cap_s=budget_s,
    )
