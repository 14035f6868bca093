"""Measure rounds. In a round, a baseline and a candidate run one directly after the other, in random order.

The speed of a machine changes, but inside a round, baseline and candidate run under nearly the same conditions. So the
*ratio* of a round is stable even if its two times are not.
"""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Protocol, TypeVar

from harness.machine import clocks
from harness.machine.clocks import Clock
from harness.paired.decide import (
    BENEFIT,
    DEFAULT,
    LOOK_GROWTH,
    Estimate,
    MeasurementError,
    Rules,
    estimate,
    highest_tier_index,
    tier_index,
)

HIDDEN_WORK = 3.0
"""The CPU clock misses work of the candidate if its wall time ÷ CPU time is more than this many times the baseline's:
the candidate sleeps, or computes outside the process that the CPU clock measures."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The CPU time and the wall time of a timed block of calls, in seconds, for all its `calls` calls together.

    `waited_s` is the part of the wall time in which the processes were ready to run, but waited for their core. Raise
    `MeasurementError` if a time is not positive and finite, or if all the time was waiting.
    """

    cpu_s: float
    wall_s: float
    calls: int = 1
    waited_s: float = 0.0

    def __post_init__(self) -> None:
        for clock, seconds in (("CPU", self.cpu_s), ("wall", self.wall_s)):
            if not 0 < seconds < math.inf:
                raise MeasurementError(
                    f"A block of calls took {seconds} s on the {clock} clock; make blocks longer than its resolution."
                )
        if not 0 <= self.waited_s < self.wall_s:
            raise MeasurementError(f"A block of {self.wall_s} s cannot wait {self.waited_s} s for its core.")

    def call_s(self, *, by_wall: bool = False) -> float:
        """Return the CPU time per call in seconds. With `by_wall`, return the wall time without waiting, per call."""
        return (self.wall_s - self.waited_s if by_wall else self.cpu_s) / self.calls


def make_reading(cpu_s: float, wall_s: float, calls: int = 1, waited_s: float = 0.0) -> Reading:
    """Return the `Reading` of a block of calls. If the CPU clock did not advance, use the wall time as the CPU time.

    In a virtual machine, a CPU clock may not advance during a block: in 1 of 30,000 blocks of 60 µs on a busy machine.
    If two processes waited at the same time, `waited_s` may be too long. At least the CPU time remains.
    """
    ran_s = cpu_s if cpu_s > 0 else wall_s
    return Reading(ran_s, wall_s, calls, max(0.0, min(waited_s, wall_s - ran_s)))


@dataclass(frozen=True, slots=True)
class Round:
    """The times of a block of calls of the baseline and of one of the candidate, both run by the pair number `pair`."""

    pair: int
    baseline: Reading
    candidate: Reading
    baseline_first: bool

    @property
    def ratio(self) -> float:
        """The baseline's CPU time per call ÷ the candidate's CPU time per call: 2 if the candidate is twice as fast."""
        return self.baseline.call_s() / self.candidate.call_s()

    @property
    def wall_ratio(self) -> float:
        """The same ratio of the wall times, without waiting for a core."""
        return self.baseline.call_s(by_wall=True) / self.candidate.call_s(by_wall=True)

    @property
    def shows_hidden_work(self) -> bool:
        """Whether the CPU clock seems to have missed work of the candidate (`HIDDEN_WORK`)."""
        return self.ratio > HIDDEN_WORK * self.wall_ratio

    @property
    def wall_s(self) -> float:
        """The wall time of baseline and candidate together, in seconds, with waiting."""
        return self.baseline.wall_s + self.candidate.wall_s


class OfPair(Protocol):
    """A round that belongs to a pair of loops or processes."""

    @property
    def pair(self) -> int:
        """The number of the pair."""


R = TypeVar("R", bound=OfPair)


def by_pair(rounds: Iterable[R]) -> dict[int, list[R]]:
    """Return the rounds of each pair by its number, in the order in which the pairs were first measured."""
    found: dict[int, list[R]] = {}
    for round_ in rounds:
        found.setdefault(round_.pair, []).append(round_)
    return found


def hides_work(rounds: Sequence[Round]) -> bool:
    """Return whether more than half of the rounds show hidden work. On a busy machine, some honest rounds do, too."""
    return 2 * sum(round_.shows_hidden_work for round_ in rounds) > len(rounds)


class Pair(Protocol):
    """The interface of a baseline and a candidate that are ready to be timed."""

    def play(self, *, baseline_first: bool) -> Round:
        """Time the baseline and the candidate once each, in the order of `baseline_first`, and return the times."""
        ...


PairFactory = Callable[[int], AbstractContextManager[Pair]]  # its argument is the number of the pair, from 0

MOST_OPEN = 9  # pairs at the same time, each with the data of its setups


@dataclass(frozen=True, slots=True)
class Outcome:
    """All rounds of a comparison of baseline and candidate, the estimated ratio, and how many thresholds it reaches.

    `tier_index` is this number, or None if the interval contains a threshold. `hidden_work` means that the CPU clock
    missed work of the candidate, so the ratios are those of wall times.
    """

    rounds: tuple[Round, ...]
    estimate: Estimate
    thresholds: tuple[float, ...]
    tier_index: int | None
    hidden_work: bool

    @property
    def undecided(self) -> bool:
        """Whether the measurements ended before it was clear how many thresholds the ratio reaches."""
        return self.tier_index is None

    def highest_tier_index(self, benefit: float = BENEFIT) -> int:
        """Return `tier_index`, or else the result of `harness.paired.decide.highest_tier_index`."""
        if self.tier_index is not None:
            return self.tier_index
        return highest_tier_index(self.estimate, self.thresholds, benefit)


def contest(
    open_pair: PairFactory,
    thresholds: Sequence[float],
    rules: Rules = DEFAULT,
    *,
    rng: random.Random,
    by_wall: bool = False,
    wall: Clock = clocks.wall,
    is_enough: Callable[[Outcome], bool] = lambda _: True,
) -> Outcome:
    """Time baseline and candidate until it is clear which `thresholds` the ratio reaches, or until the time limit.

    A clear outcome ends the contest only if `is_enough` returns True for it.

    Rounds are measured in slices of `slice_s` seconds. Each slice starts a new pair of baseline and candidate, until
    there were `max_pairs` pairs. At most `MOST_OPEN` pairs are open at the same time. After that, each new pair ends
    the oldest, and starts only while all starts together took less time than the measurements (on the clock `wall`).
    Each other slice uses the open pair with the least measuring time so far. The ratio is estimated when there are
    `min_pairs` pairs, and then each time the measuring time has grown by the factor `LOOK_GROWTH`.

    `rng` draws the order of baseline and candidate in each round. The candidate must not be able to read the seed of
    `rng`. The ratios are those that `judge` uses.
    """
    rounds: list[Round] = []
    pairs: list[_OpenPair] = []
    opened, opening_s, total_s, next_look_s = 0, 0.0, 0.0, 0.0
    with ExitStack() as stack:
        while True:
            if opened < rules.max_pairs and (opened < MOST_OPEN or opening_s < total_s):
                if len(pairs) == MOST_OPEN:
                    pairs.pop(0).ending.close()
                ending, start_s = stack.enter_context(ExitStack()), wall()
                pairs.append(_OpenPair(ending.enter_context(open_pair(opened)), ending))
                opening_s += wall() - start_s
                opened += 1
            turn = min(pairs, key=lambda pair: pair.spent_s)
            fresh = _slice(turn.pair, rules, rng)
            rounds += fresh
            spent_s = sum(round_.wall_s for round_ in fresh)
            turn.spent_s += spent_s
            total_s += spent_s
            if opened < rules.min_pairs or total_s < min(next_look_s, rules.cap_s):
                continue
            outcome = judge(rounds, thresholds, rules, by_wall=by_wall)
            if (not outcome.undecided and is_enough(outcome)) or total_s >= rules.cap_s:
                return outcome
            next_look_s = total_s * LOOK_GROWTH


def judge(
    rounds: Sequence[Round], thresholds: Sequence[float], rules: Rules = DEFAULT, *, by_wall: bool = False
) -> Outcome:
    """Return the estimated ratio of measured rounds, and how many thresholds it reaches.

    The ratios are those of wall times with `by_wall`, and if more than half of the rounds show hidden work, otherwise
    those of CPU times. Raise `MeasurementError` if there are no rounds.
    """
    hidden = not by_wall and hides_work(rounds)
    known = estimate(
        [[one.wall_ratio if by_wall or hidden else one.ratio for one in played] for played in by_pair(rounds).values()],
        rules,
    )
    return Outcome(tuple(rounds), known, tuple(thresholds), tier_index(known, thresholds), hidden)


@dataclass(slots=True)
class _OpenPair:
    pair: Pair
    ending: ExitStack
    spent_s: float = 0.0


def _slice(pair: Pair, rules: Rules, rng: random.Random) -> list[Round]:
    rounds: list[Round] = []
    spent_s = 0.0
    while len(rounds) < rules.min_rounds or spent_s < rules.slice_s:
        round_ = pair.play(baseline_first=rng.random() < 0.5)
        rounds.append(round_)
        spent_s += round_.wall_s
    return rounds
