"""Test the guarantee of `harness.paired.decide` on simulated measurements: ten thousand verdicts for each setting.

    python tests/benchmarks/decisions.py --verdicts 10000 --jobs 2

No code is timed. The log ratio of a round is a sum: the truth, a layout error, drawn for each pair, and the noise
at that moment, which continues from one pair to the next. Each rate is printed with its upper bound
(one-sided, 95 %, Clopper and Pearson 1934). Machines that break an assumption on purpose have no guarantee. If the true
ratio is exactly a threshold, both UNDECIDED and the threshold are right, and the row counts misses of all intervals.

A grade is too good if the threshold of its tier is more than the factor `BENEFIT` above the true ratio. The last column
has an upper bound of the chance that at least one of fifty copies of the same code gets a grade that is too good. The
exit code is 1 if a rate is above the guaranteed one.
"""

import argparse
import math
import random
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import NormalDist, median

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track

from harness.paired import duel
from harness.paired.decide import BENEFIT, Rules
from harness.paired.duel import duel_rules
from harness.paired.noise import p95
from harness.paired.rounds import Outcome, Pair, Reading, Round, contest
from harness.rendering import units
from harness.rendering.tables import Table

RULES = duel_rules()
"""The rules of a duel, with its usual time budget."""

ROUND_S = 5e-3
"""The simulated length of a round: about 200 rounds fit in the cap. A real duel plays about 1600 rounds of 0.6 ms."""

COPIES = 50
CONFIDENCE = 0.95
"""The confidence of the upper bounds of rates."""

_MARGINS = (1 / (1 + duel.MARGIN), 1 + duel.MARGIN)
_TIERS = (2.0, 4.0)

TRUTHS: dict[str, tuple[float, Sequence[float]]] = {
    "the same": (1.0, _MARGINS),
    "3 % slower": (1 / 1.03, _MARGINS),
    "5 % above a tier": (1.05 * _TIERS[0], _TIERS),
    "5 % below a tier": (_TIERS[0] / 1.05, _TIERS),
    "exactly at a tier": (_TIERS[0], _TIERS),
    "2× from each tier": (_TIERS[0] / 2, _TIERS),
    "2 % beyond the benefit": (_TIERS[1] / BENEFIT / 1.02, _TIERS),
}
"""The true ratio, and the tiers with which it is compared."""

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


MACHINES = machines(RULES.layout_sd)


@dataclass(frozen=True, slots=True)
class Rates:
    """The results of all contests on one simulated machine with one true ratio: shares of false verdicts, and costs."""

    name: str
    promised: bool
    truth: str
    contests: int
    false: int
    missed: int
    too_good: int
    undecided: float
    rounds: float
    timing_s: float
    timing_p95_s: float

    @property
    def kept(self) -> bool:
        """Whether all rates are at most the guaranteed rate."""
        return max(self.false, self.missed) <= RULES.error_rate * self.contests


def measure(task: tuple[int, str, int]) -> Rates:
    number, truth, contests = task
    machine, (ratio, thresholds) = MACHINES[number], TRUTHS[truth]
    played: list[Played] = list(play(machine, ratio, thresholds, RULES, contests, round_s=ROUND_S, seed=1))
    timing_s = [one.timing_s for one in played]
    return Rates(
        name=machine.name,
        promised=machine.promised,
        truth=truth,
        contests=contests,
        false=sum(one.false for one in played),
        missed=sum(one.missed for one in played),
        too_good=sum(one.given > bisect_right(thresholds, ratio * BENEFIT) for one in played),
        undecided=sum(one.undecided for one in played) / contests,
        rounds=median(one.rounds for one in played),
        timing_s=median(timing_s),
        timing_p95_s=p95(timing_s),
    )


def upper_bound(hits: int, tries: int, confidence: float = CONFIDENCE) -> float:
    """Return the upper confidence bound of a hit's probability, from the number of `hits` in `tries`."""
    low, high = hits / tries, 1.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(hits, tries, middle) > 1 - confidence else (low, middle)
    return high


def at_most(hits: int, tries: int, p: float) -> float:
    """Return the probability of at most `hits` in `tries`, each a hit with probability `p`."""
    if hits == tries or p == 0:
        return 1.0
    logs = (
        math.lgamma(tries + 1) - math.lgamma(k + 1) - math.lgamma(tries - k + 1)
        + k * math.log(p) + (tries - k) * math.log1p(-p)
        for k in range(hits + 1)
    )  # fmt: skip
    return math.fsum(map(math.exp, logs))


def table(results: Sequence[Rates]) -> Table:
    first = results[0]
    promise = f"promised at most {units.percent(RULES.error_rate)}" if first.promised else "beyond the promise"
    return Table.of(
        title=f"{first.name}: {promise}",
        columns={
            "truth": None,
            "false verdicts": None,
            "interval misses": None,
            "undecided": units.percent,
            "rounds": units.count,
            "timing": units.seconds,
            "95 % within": units.seconds,
            f"too good, one of {COPIES}": units.percent,
        },
        rows=[
            (
                one.truth,
                _rate(one.false, one.contests),
                _rate(one.missed, one.contests),
                one.undecided,
                one.rounds,
                one.timing_s,
                one.timing_p95_s,
                1 - (1 - upper_bound(one.too_good, one.contests)) ** COPIES,
            )
            for one in results
        ],
    )


def _rate(hits: int, tries: int) -> str:
    return f"{units.percent(hits / tries)} (≤ {units.percent(upper_bound(hits, tries))})"


def main() -> int:
    parser = argparse.ArgumentParser(description="False verdicts of the decision on planted data.")
    parser.add_argument("--verdicts", type=int, default=10_000, help="contests for each machine and true ratio")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    tasks = [(number, truth, options.verdicts) for number in range(len(MACHINES)) for truth in TRUTHS]
    broken, console = False, Console(width=None if sys.stdout.isatty() else 120)
    with ProcessPoolExecutor(options.jobs) as pool:
        done: list[Rates] = []
        for one in track(pool.map(measure, tasks), total=len(tasks), console=Console(stderr=True)):
            done.append(one)
            if len(done) == len(TRUTHS):
                console.print(table(done))
                broken |= not all(each.kept for each in done if each.promised)
                done = []
    print(f"A margin of {units.percent(duel.MARGIN)}, tiers at {_TIERS}; {options.verdicts} contests per row.")
    print("A rate is above the guaranteed rate." if broken else "Every rate is within its guarantee.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
