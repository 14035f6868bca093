"""A duel: which of two pieces of code is faster here, and is the difference real?

Both run in this process, in short blocks back to back in random order, until the ratio of their costs is clearly
outside or clearly inside a margin (`harness.rounds`, `harness.decide`). Ratios are baseline ÷ candidate: above 1 the
candidate is faster.

What a duel cannot see: one process is one memory layout. A pair is here a freshly compiled pair of timing loops after
a fresh run of the setup, and `LAYOUT_SD` allows for what that changes; a function that happens to lie badly in this
process stays so until it ends. Twin processes (`harness.twins`) are for what must hold beyond this process.
"""

import gc
import math
import random
import sys
import textwrap
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import repeat

from harness import clocks, units
from harness.clocks import Clock
from harness.decide import MeasurementError, Rules
from harness.errors import UsageError
from harness.rounds import Outcome, Reading, Round, contest

BLOCK_S = 0.8e-3
"""Length of one turn. It must be well below a scheduler's slice (3 ms and more on Linux), so that most turns are not
interrupted: with blocks of 3 ms a neighbour moved single ratios by more than 100 % (DESIGN section 6)."""

LAYOUT_SD = 0.002
"""Standard deviation of a pair's log ratio from freshly compiled loops and fresh setups within one process."""

Statement = str | Callable[[], object]
"""What is timed: a statement, as for `timeit`, or a function to be called without arguments."""

_Turns = Generator[Reading, int, None]
"""Sent a number of calls, yields what they cost."""

_LOOP = """\
def turns(_call, _cpu, _wall, _repeat, _reading):
{setup}
    _calls = yield None
    while True:
        _each = _repeat(None, _calls)
        _wall_s = _wall()
        _cpu_s = _cpu()
        for _ in _each:
{statement}
        _cpu_s = _cpu() - _cpu_s
        _wall_s = _wall() - _wall_s
        _calls = yield _reading(_cpu_s, _wall_s, _calls)
"""
"""The timing loop. A generator, so the setup's names stay fast locals and the setup runs once for all turns."""


class DuelVerdict(StrEnum):
    """How the candidate compares with the baseline."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    UNDECIDED = "undecided"


_BY_CELL = (DuelVerdict.SLOWER, DuelVerdict.SAME, DuelVerdict.FASTER)


@dataclass(frozen=True, slots=True)
class Duel:
    """The outcome of a duel. `ratio` is the baseline's cost ÷ the candidate's, within [low, high].

    FASTER and SLOWER say that all of the interval is beyond `margin` (0.02: 2 %), SAME that all of it is within.
    `hidden_work` says that the wall clock counted, because the CPU clock did not see the candidate's work.
    """

    ratio: float
    low: float
    high: float
    verdict: DuelVerdict
    margin: float
    rounds: tuple[Round, ...]
    hidden_work: bool

    @property
    def spent_s(self) -> float:
        """Wall seconds of timing."""
        return sum(round_.wall_s for round_ in self.rounds)

    @property
    def ratios(self) -> list[float]:
        """The ratio of each round, on the clock that counted."""
        return [round_.wall_ratio if self.hidden_work else round_.ratio for round_ in self.rounds]

    def __str__(self) -> str:
        """One line: verdict, ratio, interval, effort."""
        digits = 4 if 0.9 < self.ratio < 1.1 else 3
        low, high = units.number(self.low, digits), units.number(self.high, digits)
        effort = f"{units.count(len(self.rounds))} rounds, {units.seconds(self.spent_s, 2)}"
        line = f"{self.verdict.upper()}: {units.ratio(self.ratio, digits)} the baseline ({low} to {high}; {effort})"
        if self.verdict in {DuelVerdict.SAME, DuelVerdict.UNDECIDED}:
            line += f", margin {units.percent(self.margin)}"
        return line + (", by wall time: the CPU clock does not see its work" if self.hidden_work else "")

    def to_dict(self) -> dict[str, object]:
        """Everything, raw rounds included, as JSON takes it; an interval without an upper end has None there."""
        return asdict(self) | {"high": self.high if math.isfinite(self.high) else None}


def duel(
    candidate: Statement,
    baseline: Statement,
    *,
    setup: str = "pass",
    globals: Mapping[str, object] | None = None,  # noqa: A002 - timeit's word for it
    margin: float = 0.02,
    budget_s: float = 1.0,
    seed: int | None = None,
    clock: Clock = clocks.thread_cpu,
    wall: Clock = clocks.wall,
) -> Duel:
    """Compare two statements, or two functions, and stop as soon as it is clear which is faster.

    `setup` runs before each side of each pair; its names and those of `globals` are what a statement sees.
    `budget_s` is the most wall time spent on timing; when a call is so long that it cannot hold enough rounds,
    the verdict is UNDECIDED. `clock` says what counts: by default the CPU time of this thread, with torch set to one
    thread; `harness.clocks.wall` for code that uses several. `seed` fixes the order of turns.

    Raises `UsageError` for code that does not compile, and whatever the code itself raises.
    """
    if not (margin > 0 and math.isfinite(margin) and budget_s > 0 and math.isfinite(budget_s)):
        raise UsageError(f"A duel needs a positive margin and budget_s, not {margin} and {budget_s}.")
    names = dict(globals or {})

    def loops() -> tuple[_Turns, _Turns]:
        return (
            timing_loop(baseline, setup, names, clock, wall),
            timing_loop(candidate, setup, names, clock, wall),
        )

    with steady():
        calls = [calibrate(turns) for turns in loops()]

        @contextmanager
        def open_pair(number: int) -> Iterator["_Loops"]:
            pair = _Loops(number, *loops(), calls[0], calls[1])
            pair.play(baseline_first=True)  # a warm-up that is not kept
            yield pair

        with open_pair(0) as pair:
            round_s = pair.play(baseline_first=True).wall_s
        outcome = contest(
            open_pair,
            (1 / (1 + margin), 1 + margin),
            _rules(budget_s, round_s),
            rng=random.Random(seed),
            ratio_of=None,
        )
    return _duel(outcome, margin)
