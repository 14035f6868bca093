"""A duel tells which of two pieces of code is faster here, and whether that is real.

Both run in this process, in short blocks back to back in random order, until the ratio of their costs lies
clearly outside or clearly inside a margin (`harness.blocks`, `harness.rounds`, `harness.decide`). The ratio
is baseline ÷ candidate: above 1 the candidate is faster.

What a duel cannot see: one process is one memory layout. A pair is here two freshly compiled timing loops
after a fresh setup, and `LAYOUT_SD` allows for what that changes; a function that lies badly in this
process does so until it ends. What must hold beyond one process needs twin processes (`harness.twins`).
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial

from harness import clocks, plots, units
from harness.blocks import COUNTED, Statement, TimingLoop, calibrate, steady, timing_loop
from harness.clocks import Clock
from harness.decide import Rules
from harness.errors import UsageError
from harness.rounds import Outcome, Reading, Round, contest

MARGIN = 0.02
"""Differences below this are called SAME: what memory layout alone moves from one process to the next."""

LAYOUT_SD = 0.005
"""Standard deviation of a pair's log ratio from fresh loops and a fresh setup. Freshly compiled loops of
the same code were 0.2 to 0.5 % apart when the time went into one C call, but about 1 % when it went into
bytecode; where pairs disagree by more than this, their own spread counts (`harness.decide`)."""

_PAIRS = 5
"""Pairs before a verdict: fresh loops cost nothing, and of five two can be wrong and be outvoted."""


Turn = Callable[[], Reading]
"""Runs one block of one side."""


class Finding(StrEnum):
    """How the candidate compares with the baseline."""

    SLOWER = "slower"
    SAME = "same"
    FASTER = "faster"
    UNDECIDED = "undecided"


_FINDING_OF_CELL = (Finding.SLOWER, Finding.SAME, Finding.FASTER)


@dataclass(frozen=True, slots=True)
class Duel:
    """How a duel ended. `ratio` is the baseline's cost ÷ the candidate's, within [low, high].

    FASTER and SLOWER say that the whole interval is beyond `margin` (0.02: 2 %), SAME that it is within.
    `hidden_work` says that the CPU clock did not see the candidate's work, so the wall clock counted.
    """

    ratio: float
    low: float
    high: float
    verdict: Finding
    margin: float
    hidden_work: bool
    rounds: tuple[Round, ...]

    @property
    def ratios(self) -> tuple[float, ...]:
        """The ratio of each round, on the clock that counted."""
        return tuple(round_.wall_ratio if self.hidden_work else round_.ratio for round_ in self.rounds)

    @property
    def spent_s(self) -> float:
        """Wall seconds of timing."""
        return sum(round_.wall_s for round_ in self.rounds)

    def __str__(self) -> str:
        digits = 4 if 0.9 < self.ratio < 1.1 else 3
        interval = f"{units.number(self.low, digits)} to {units.number(self.high, digits)}"
        effort = f"{units.count(len(self.rounds))} rounds, {units.seconds(self.spent_s, 2)}"
        line = f"{self.verdict.upper()}: {units.ratio(self.ratio, digits)} the baseline ({interval}; {effort})"
        if self.verdict in {Finding.SAME, Finding.UNDECIDED}:
            line += f", margin {units.percent(self.margin)}"
        return line + (", by the wall clock: the CPU clock misses its work" if self.hidden_work else "")

    def histogram(self, bins: int = 16) -> str:
        """Return the ratios of the rounds as one line of text."""
        return plots.histogram(self.ratios, bins, units.ratio)

    def to_dict(self) -> dict[str, object]:
        """Return all of it, raw rounds included, in types that JSON has; no upper end yet is None."""
        return asdict(self) | {"high": self.high if math.isfinite(self.high) else None}


def duel(
    candidate: Statement,
    baseline: Statement,
    *,
    setup: str = "pass",
    globals: Mapping[str, object] | None = None,  # noqa: A002 - timeit's word for it
    margin: float = MARGIN,
    budget_s: float = 1.0,
    seed: int | None = None,
    clock: Clock = COUNTED,
    wall: Clock = clocks.wall,
) -> Duel:
    """Compare two statements, or two functions, until it is clear which is faster or that neither is.

    `setup` runs for each side of each pair; a statement sees its names and those of `globals`. `budget_s`
    is about the most wall time to spend on timing: a call so long that too few rounds fit in ends
    UNDECIDED. `clock` counts: by default the CPU time of this thread, torch set to one thread meanwhile;
    with `harness.clocks.wall` waiting counts too. `seed` fixes the order of turns; `wall` is for tests.

    Raises `UsageError` for code that is not Python, and whatever the code raises.
    """
    if not (0 < margin < math.inf and 0 < budget_s < math.inf):
        raise UsageError(f"A duel needs a positive margin and budget_s, not {margin} and {budget_s}.")

    def loop(statement: Statement) -> TimingLoop:
        return timing_loop(statement, setup=setup, globals=globals, clock=clock, wall=wall)

    rng = random.Random(seed)
    sides = (baseline, candidate)
    with steady():
        blocks = [calibrate(loop(side)) for side in sides]

        @contextmanager
        def open_pair(number: int) -> Iterator[_Loops]:
            turns: dict[int, Turn] = {}
            # The side that is set up first may get the better memory, so that is drawn for every pair.
            for side in rng.sample((0, 1), 2):
                turns[side] = partial(loop(sides[side]), blocks[side].calls)
                turns[side]()  # not kept: a fresh loop's first block warms it up
            yield _Loops(number, turns[0], turns[1])

        rules = _rules(budget_s, round_s=sum(block.wall_s for block in blocks))
        outcome = contest(open_pair, (1 / (1 + margin), 1 + margin), rules, rng=rng)
    return _duel(outcome, margin)


@dataclass(frozen=True, slots=True)
class _Loops:
    """A pair within this process: two timing loops, each with the calls that fill a block."""

    number: int
    baseline: Turn
    candidate: Turn

    def play(self, *, baseline_first: bool) -> Round:
        """Play one round, in the order asked for."""
        if baseline_first:
            baseline = self.baseline()
            candidate = self.candidate()
        else:
            candidate = self.candidate()
            baseline = self.baseline()
        return Round(self.number, baseline, candidate, baseline_first)


def _rules(budget_s: float, round_s: float) -> Rules:
    """Return rules that keep to the budget, even when that means too few rounds to tell."""
    usual = Rules()
    fitting = int(budget_s / (_PAIRS * round_s))
    return Rules(
        layout_sd=LAYOUT_SD,
        min_pairs=_PAIRS,
        max_pairs=2 * _PAIRS,
        min_rounds=max(1, min(usual.min_rounds, fitting)),
        slice_s=min(usual.slice_s, budget_s / (2 * _PAIRS)),
        cap_s=budget_s,
    )


def _duel(outcome: Outcome, margin: float) -> Duel:
    known = outcome.estimate
    verdict = Finding.UNDECIDED if outcome.cell is None else _FINDING_OF_CELL[outcome.cell]
    return Duel(known.ratio, known.low, known.high, verdict, margin, outcome.hidden_work, outcome.rounds)
