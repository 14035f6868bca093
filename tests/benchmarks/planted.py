"""Run fairclock's statistical decision on simulated measurements with a known true ratio, without a clock.

The log ratio of a measured round is a sum: the true log ratio, a layout error, and the noise at that moment. The layout
error is drawn for each pair of processes. The noise continues from one pair to the next.
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

from harness.paired.decide import Rules
from harness.paired.rounds import Outcome, Pair, Reading, Round, contest

Array = npt.NDArray[np.float64]

Draw = Callable[[np.random.Generator, int, int], Array]
"""A function that draws log ratios for several contests: noise (contests, rounds), or layout (contests, pairs)."""

SD = 0.03
"""The standard deviation of a round's log ratio on most machines. Rounds of real duels spread by 1 to 3 %."""

_AT_ONCE = 200
"""The number of contests whose noise is drawn together."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A simulated machine.

    `promised`: whether the assumptions of `harness.paired.decide` hold on this machine. `later` is the extra cost of a
    round's second turn, as a log ratio, if the machine slows down.
    """

    name: str
    noise: Draw
    layout: Draw
    promised: bool = True
    later: Draw | None = None


def machines(layout_sd: float) -> tuple[Machine, ...]:
    """Return all simulated machines. Unless noted, their layout errors have the spread `layout_sd`, as rules assume."""
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
    """Return independent, normally distributed noise."""
    return lambda rng, contests, values: rng.normal(0, sd, (contests, values))


def heavy_tails(scale: float) -> Draw:
    """Return noise from Student's t distribution with two degrees of freedom, whose variance is infinite."""
    return lambda rng, contests, values: scale * rng.standard_t(2, (contests, values))


def skewed(scale: float) -> Draw:
    """Return noise that slows only one side. Its median is 0, its mean is not."""
    return lambda rng, contests, values: rng.exponential(scale, (contests, values)) - scale * math.log(2)


def drift(amplitude: float) -> Draw:
    """Return the noise of a machine whose speed changes in slow waves of 50 to 500 rounds."""

    def draw(rng: np.random.Generator, contests: int, rounds: int) -> Array:
        pace = 2 * math.pi / rng.uniform(50, 500, (contests, 1))
        phase = rng.uniform(0, 2 * math.pi, (contests, 1))
        slope: Array = amplitude * pace / 2 * np.cos(pace * np.arange(rounds) + phase)
        return slope

    return draw


def alike(correlation: float) -> Draw:
    """Return noise from a first-order autoregression."""
    fresh = SD * math.sqrt(1 - correlation**2)

    def draw(rng: np.random.Generator, contests: int, rounds: int) -> Array:
        noise = rng.normal(0, fresh, (contests, rounds))
        noise[:, 0] *= SD / fresh
        for now in range(1, rounds):
            noise[:, now] += correlation * noise[:, now - 1]
        return noise

    return draw


def two_states(apart: float, *, share: float, rounds: int) -> Draw:
    """Return noise with a calm and a noisy state.

    The noisy state lasts `rounds` rounds and takes a `share` of the time. The median is 0.
    """
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
    """Return the median of normal noise whose mean is higher by `apart` for a `share` of the time."""
    calm = NormalDist(0, SD)
    low, high = 0.0, apart
    while high - low > 1e-9:
        middle = (low + high) / 2
        below = (1 - share) * calm.cdf(middle) + share * calm.cdf(middle - apart)
        low, high = (middle, high) if below < 0.5 else (low, middle)
    return low


def wild(usual: Draw, share: float, *, upwards: float) -> Draw:
    """Return layout errors: a share of the pairs is off by 3 to 13 % in all rounds, upwards with this probability."""

    def draw(rng: np.random.Generator, contests: int, pairs: int) -> Array:
        size = (contests, pairs)
        sign = np.where(rng.random(size) < upwards, 1, -1)
        layout: Array = usual(rng, *size) + sign * (rng.random(size) < share) * rng.uniform(0.03, 0.13, size)
        return layout

    return draw


@dataclass(frozen=True, slots=True)
class Played:
    """The result of one contest.

    `false` means a wrong tier. `missed` means that the last interval does not contain the truth. `given` is the tier
    that a student gets, with the benefit of the doubt.
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
    """Play contests with the true ratio `ratio`. `round_s` is the simulated duration of a round at ratio 1."""
    draw, order = np.random.default_rng(seed), random.Random(seed)
    # A round is shortest at an infinite ratio. One slice beyond the cap may be played, and one slice on each pair.
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
        false=outcome.tier_index not in {None, reached},
        missed=not outcome.estimate.low <= ratio <= outcome.estimate.high,
        undecided=outcome.undecided,
        rounds=len(outcome.rounds),
        timing_s=sum(round_.wall_s for round_ in outcome.rounds),
        given=outcome.highest_tier_index(),
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The simulated pairs of one contest. The noise continues from one pair to the next."""

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
