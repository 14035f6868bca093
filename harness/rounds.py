"""Pairs of measurements: two pieces of code run back to back, in random order, as one round.

Two measurements taken one after the other differ by what the machine did in between. Inside a round both
sides see nearly the same machine, so the *ratio* of a round is steady where its two times are not.

`contest` plays rounds on fresh pairs until `harness.decide` can tell. It keeps every round, and `judge`
repeats the verdict from them alone.
"""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Protocol

from harness.decide import BENEFIT, DEFAULT, LOOK_GROWTH, Estimate, MeasurementError, Rules, cell, estimate, upper_cell

HIDDEN_WORK = 3.0
"""How many times the baseline's wall time per CPU time the candidate's may be before its CPU clock is not
believed. Busy neighbours stretch wall time two to four times, but both sides of a round alike, so honest
code stays near 1; sleeping, or handing work to something that the clock does not see, goes far above."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one side's turn cost: CPU time of its process, and wall time beside it as a cross-check.

    Both are totals over the `calls` calls of the turn. Times that no turn can have taken are refused.
    """

    cpu_s: float
    wall_s: float
    calls: int = 1

    def __post_init__(self) -> None:
        """Refuse a reading from which no ratio can be made."""
        for clock, seconds in (("CPU", self.cpu_s), ("wall", self.wall_s)):
            if not 0 < seconds < math.inf:
                raise MeasurementError(
                    f"A turn took {seconds} s on the {clock} clock; make turns long enough for it to see."
                )
        if self.calls < 1:
            raise MeasurementError(f"A turn of {self.calls} calls measures nothing; make at least one.")

    def call_s(self, *, by_wall: bool = False) -> float:
        """Return what one call cost, on the CPU clock or by the wall."""
        return (self.wall_s if by_wall else self.cpu_s) / self.calls


def taken(counted_s: float, wall_s: float, calls: int = 1) -> Reading:
    """Return what a turn cost: by the clock that counts or, where that stood still meanwhile, by the wall.

    A CPU clock can stand still in a virtual machine: the system takes off what the host took from it, and may learn of
    that late, so the next turn seems to cost nothing. On a shared machine with 2 cores that happened to 1 of 30,000
    turns of 60 µs. By the wall such a turn never costs less than it did.
    """
    return Reading(counted_s if counted_s > 0 else wall_s, wall_s, calls)


@dataclass(frozen=True, slots=True)
class Round:
    """One turn of the baseline and one of the candidate, back to back.

    `pair` numbers the pair of processes that played it: a pair is one sample of memory layout.
    """

    pair: int
    baseline: Reading
    candidate: Reading
    baseline_first: bool

    @property
    def ratio(self) -> float:
        """How many times cheaper a call of the candidate was than one of the baseline, on the CPU clock."""
        return self.baseline.call_s() / self.candidate.call_s()

    @property
    def wall_ratio(self) -> float:
        """The same on the wall clock."""
        return self.baseline.call_s(by_wall=True) / self.candidate.call_s(by_wall=True)

    @property
    def wall_s(self) -> float:
        """Wall seconds spent on both turns."""
        return self.baseline.wall_s + self.candidate.wall_s


class Pair(Protocol):
    """A baseline and a candidate that are ready to take turns."""

    def play(self, *, baseline_first: bool) -> Round:
        """Play one round, in the order asked for."""
        ...


PairFactory = Callable[[int], AbstractContextManager[Pair]]
"""Opens the fresh pair with that number, counted from 0; its rounds carry the number."""

RatioOf = Callable[[Round], float]
"""What a round says of the ratio. `wall_ratio` is the one for work on several threads."""


def cpu_ratio(round_: Round) -> float:
    """Return the round's ratio on the CPU clock."""
    return round_.ratio


def wall_ratio(round_: Round) -> float:
    """Return the round's ratio on the wall clock."""
    return round_.wall_ratio


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a contest ended: its rounds, what they say, and how many thresholds the ratio has reached.

    `cell` is None when the cap came before that was clear. `hidden_work` tells that the CPU clock did not see
    the candidate's work, so the wall clock counted.
    """

    rounds: tuple[Round, ...]
    estimate: Estimate
    thresholds: tuple[float, ...]
    cell: int | None
    hidden_work: bool

    @property
    def undecided(self) -> bool:
        """Whether the interval straddles a threshold."""
        return self.cell is None

    def upper_cell(self, benefit: float = BENEFIT) -> int:
        """Return the cell, or the highest one still possible within `benefit` times the ratio.

        Raises `MeasurementError` without any interval.
        """
        return upper_cell(self.estimate, self.thresholds, benefit) if self.cell is None else self.cell


def contest(
    open_pair: PairFactory,
    thresholds: Sequence[float],
    rules: Rules = DEFAULT,
    *,
    rng: random.Random,
    ratio_of: RatioOf | None = None,
) -> Outcome:
    """Play rounds on fresh pairs until it is clear how many `thresholds` the ratio reaches, or until the cap.

    It plays slices, each on a fresh pair up to `max_pairs`, and looks after each once there are `min_pairs`.
    From then on the pair that has played least plays on, and it looks whenever the time spent has grown by
    `LOOK_GROWTH`: `Rules.looks` counts these looks. Pairs stay open to the end.

    Who begins a round is drawn from `rng`: its seed must be nothing the candidate can know. Without
    `ratio_of` the CPU clock counts, unless the candidate's wall time is so far above its CPU time, in more than half
    of the rounds, that this clock must miss work: `HIDDEN_WORK`.
    """
    tally = _Tally(ratio_of)
    pairs: list[Pair] = []
    spent_s: list[float] = []
    next_look_s = 0.0
    with ExitStack() as stack:
        while True:
            if len(pairs) < rules.max_pairs:
                pairs.append(stack.enter_context(open_pair(len(pairs))))
                spent_s.append(0.0)
            turn = spent_s.index(min(spent_s))
            fresh = _slice(pairs[turn], rules, rng)
            tally.add(fresh)
            spent_s[turn] += sum(round_.wall_s for round_ in fresh)
            total_s = sum(spent_s)
            if len(pairs) < rules.min_pairs or total_s < min(next_look_s, rules.cap_s):
                continue
            outcome = tally.outcome(thresholds, rules)
            if not outcome.undecided or total_s >= rules.cap_s:
                return outcome
            if len(pairs) == rules.max_pairs:
                next_look_s = total_s * LOOK_GROWTH


def judge(
    rounds: Sequence[Round],
    thresholds: Sequence[float],
    rules: Rules = DEFAULT,
    *,
    ratio_of: RatioOf | None = None,
) -> Outcome:
    """Return what rounds say, whether just played or read from a record. `ratio_of` is as for `contest`.

    Raises `MeasurementError` when there are none.
    """
    tally = _Tally(ratio_of)
    tally.add(rounds)
    return tally.outcome(thresholds, rules)


def _hides(ratio: float, wall_ratio: float) -> bool:
    """Tell whether wall time per CPU time of the candidate is too far above that of the baseline in the same round."""
    return ratio > HIDDEN_WORK * wall_ratio


class _Tally:
    """Rounds as they come, with their ratios by pair: a look need not go through all of them again."""

    def __init__(self, ratio_of: RatioOf | None) -> None:
        self._may_hide = ratio_of is None
        self._ratio_of = ratio_of or cpu_ratio
        self._rounds: list[Round] = []
        self._ratios: dict[int, list[float]] = {}
        self._wall_ratios: dict[int, list[float]] = {}
        self._hiding = 0

    def add(self, rounds: Iterable[Round]) -> None:
        """Count these rounds too."""
        for round_ in rounds:
            ratio = self._ratio_of(round_)
            self._rounds.append(round_)
            self._ratios.setdefault(round_.pair, []).append(ratio)
            if self._may_hide:
                wall_ratio = round_.wall_ratio
                self._wall_ratios.setdefault(round_.pair, []).append(wall_ratio)
                self._hiding += _hides(ratio, wall_ratio)

    @property
    def hidden_work(self) -> bool:
        """Whether more than half of the rounds show work that the CPU clock misses: fewer do so by chance."""
        return 2 * self._hiding > len(self._rounds)

    def outcome(self, thresholds: Sequence[float], rules: Rules) -> Outcome:
        """Return what all of them say."""
        ratios = self._wall_ratios if self.hidden_work else self._ratios
        known = estimate(list(ratios.values()), rules)
        return Outcome(tuple(self._rounds), known, tuple(thresholds), cell(known, thresholds), self.hidden_work)


def _slice(pair: Pair, rules: Rules, rng: random.Random) -> list[Round]:
    """Play rounds on `pair` for `slice_s`, and at least `min_rounds` of them."""
    played: list[Round] = []
    spent_s = 0.0
    while len(played) < rules.min_rounds or spent_s < rules.slice_s:
        round_ = pair.play(baseline_first=rng.random() < 0.5)
        played.append(round_)
        spent_s += round_.wall_s
    return played
