"""Contests on planted data: machines whose true ratio is known play the real `contest`, without a clock.

A round's log ratio is the truth, plus the layout of its pair, plus the machine's noise at that moment. Layout is
drawn for each pair. Noise belongs to the machine: it goes on from pair to pair, as time does.
"""

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from harness.decide import Rules
from harness.rounds import Outcome, Pair, Reading, Round, contest

Array = npt.NDArray[np.float64]

Draw = Callable[[np.random.Generator, int, int], Array]
"""Draws log ratios for so many contests: noise (contests, rounds) in the order of time, or layout (contests, pairs)."""

SD = 0.03
"""Standard deviation of a round's log ratio on most machines. Rounds of a duel were seen to spread by 1 to 3 %."""

_AT_ONCE = 200
"""Contests whose noise is drawn together."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where contests are played. `promised` tells whether the assumptions of `harness.decide` hold there.

    `later` is what the second turn of a round costs more, as a log ratio: a machine that slows down.
    """

    name: str
    noise: Draw
    layout: Draw
    promised: bool = True
    later: Draw | None = None


def machines(layout_sd: float) -> tuple[Machine, ...]:
    """Return all machines. Their layout is exactly as bad as rules of that `layout_sd` allow, except where it says."""
    usual = normal(layout_sd)
    return (
        Machine("independent rounds, 3 %", normal(SD), usual),
        Machine("heavy tails (Student's t, 2 d.f.)", heavy_tails(SD / 2), usual),
        Machine("interruptions on one side (skewed)", skewed(SD), usual),
        Machine("speed drifts by 20 %", normal(SD), usual, later=drift(0.2)),
        Machine("alike neighbours, correlation 0.5", alike(0.5), usual),
        Machine("alike neighbours, correlation 0.9", alike(0.9), usual),
        Machine("per-process bias alone", normal(layout_sd / 10), usual),
        Machine("2 % wild pairs, all one way", normal(SD), wild(usual, 0.02, upwards=0.0)),
        Machine("per-process bias twice as promised", normal(SD), normal(2 * layout_sd), promised=False),
        Machine("15 % wild pairs, both ways", normal(SD), wild(usual, 0.15, upwards=0.5), promised=False),
        Machine("two states, 5 % apart, for 5 rounds", two_states(0.05, share=0.2, rounds=5), usual, promised=False),
        Machine("two states, 5 % apart, for 25 rounds", two_states(0.05, share=0.2, rounds=25), usual, promised=False),
    )


def normal(sd: float) -> Draw:
    """Independent and normal."""
    return lambda rng, contests, values: rng.normal(0, sd, (contests, values))


def heavy_tails(scale: float) -> Draw:
    """Student's t with two degrees of freedom: no variance."""
    return lambda rng, contests, values: scale * rng.standard_t(2, (contests, values))


def skewed(scale: float) -> Draw:
    """Only ever one side is hit; the median is 0, the mean is not."""
    return lambda rng, contests, values: rng.exponential(scale, (contests, values)) - scale * math.log(2)


def drift(amplitude: float) -> Draw:
    """The slope of a slow wave of the machine's speed, per half round; a wave takes 50 to 500 rounds."""

    def draw(rng: np.random.Generator, contests: int, rounds: int) -> Array:
        pace = 2 * math.pi / rng.uniform(50, 500, (contests, 1))
        phase = rng.uniform(0, 2 * math.pi, (contests, 1))
        slope: Array = amplitude * pace / 2 * np.cos(pace * np.arange(rounds) + phase)
        return slope

    return draw


def alike(correlation: float) -> Draw:
    """A first-order autoregression."""
    fresh = SD * math.sqrt(1 - correlation**2)

    def draw(rng: np.random.Generator, contests: int, rounds: int) -> Array:
        noise = rng.normal(0, fresh, (contests, rounds))
        noise[:, 0] *= SD / fresh
        for now in range(1, rounds):
            noise[:, now] += correlation * noise[:, now - 1]
        return noise

    return draw


def two_states(apart: float, *, share: float, rounds: int) -> Draw:
    """A calm and a bad state, the bad one for `share` of the time and `rounds` on end; the median is 0."""
    leave = 1 / rounds
    enter = leave * share / (1 - share)
    centre = _median(apart, share)

    def draw(rng: np.random.Generator, contests: int, values: int) -> Array:
        noise = rng.normal(-centre, SD, (contests, values))
        chance = rng.random((contests, values))
        bad = rng.random(contests) < share
        for now in range(values):
            bad = np.where(bad, chance[:, now] >= leave, chance[:, now] < enter)
            noise[:, now] += apart * bad
        return noise

    return draw


def _median(apart: float, share: float) -> float:
    """Return the median of normal noise that is `apart` higher for a `share` of the time."""
    calm = NormalDist(0, SD)
    low, high = 0.0, apart
    while high - low > 1e-9:
        middle = (low + high) / 2
        below = (1 - share) * calm.cdf(middle) + share * calm.cdf(middle - apart)
        low, high = (middle, high) if below < 0.5 else (low, middle)
    return low


def wild(usual: Draw, share: float, *, upwards: float) -> Draw:
    """That share of pairs is off by 3 to 13 % for life, upwards with that probability."""

    def draw(rng: np.random.Generator, contests: int, pairs: int) -> Array:
        size = (contests, pairs)
        sign = np.where(rng.random(size) < upwards, 1, -1)
        layout: Array = usual(rng, *size) + sign * (rng.random(size) < share) * rng.uniform(0.03, 0.13, size)
        return layout

    return draw


@dataclass(frozen=True, slots=True)
class Played:
    """How one contest ended. `false`: a wrong cell. `missed`: the last interval is not around the truth.

    `given` is the tier that a student gets, with the benefit of the doubt.
    """

    false: bool
    missed: bool
    undecided: bool
    rounds: int
    timing_s: float
    given: int


def play(
    machine: Machine,
    ratio: float,
    thresholds: Sequence[float],
    rules: Rules,
    contests: int,
    *,
    round_s: float,
    seed: int,
) -> Iterator[Played]:
    """Play contests whose true ratio is `ratio`, in rounds of fake `round_s` when that is 1."""
    draw, order = np.random.default_rng(seed), random.Random(seed)
    # The shortest round is one of an infinite ratio; a slice more may be played than the cap, and one on each pair.
    slices_s = rules.cap_s + (1 + rules.max_pairs) * rules.slice_s
    rounds = int(2 * slices_s / round_s) + (1 + rules.max_pairs) * rules.min_rounds
    reached = bisect_right(thresholds, ratio)
    while contests > 0:
        size = min(contests, _AT_ONCE)
        noise = machine.noise(draw, size, rounds)
        later = machine.later(draw, size, rounds) if machine.later else np.zeros_like(noise)
        layout = math.log(ratio) + machine.layout(draw, size, rules.max_pairs)
        for k in range(size):
            now = zip(noise[k].tolist(), later[k].tolist(), strict=True)
            pairs = _Pairs(layout[k].tolist(), now, Reading(round_s / 2, round_s / 2))
            yield _played(contest(pairs.open, thresholds, rules, rng=order), ratio, reached)
        contests -= size


def _played(outcome: Outcome, ratio: float, reached: int) -> Played:
    return Played(
        false=outcome.cell not in {None, reached},
        missed=not outcome.estimate.low <= ratio <= outcome.estimate.high,
        undecided=outcome.undecided,
        rounds=len(outcome.rounds),
        timing_s=sum(round_.wall_s for round_ in outcome.rounds),
        given=outcome.upper_cell(),
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The pairs of one contest. Time goes on over all of them."""

    layout: Sequence[float]
    now: Iterator[tuple[float, float]]
    baseline: Reading

    @contextmanager
    def open(self, number: int) -> Iterator[Pair]:
        yield _Planted(number, self.layout[number], self.now, self.baseline)


@dataclass(frozen=True, slots=True)
class _Planted:
    number: int
    layout: float
    now: Iterator[tuple[float, float]]
    baseline: Reading

    def play(self, *, baseline_first: bool) -> Round:
        noise, later = next(self.now)
        slower = later if baseline_first else -later
        candidate_s = self.baseline.cpu_s * math.exp(slower - self.layout - noise)
        return Round(self.number, self.baseline, Reading(candidate_s, candidate_s), baseline_first)
