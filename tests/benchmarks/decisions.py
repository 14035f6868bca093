"""Test the guarantee of `harness.paired.decide` on simulated measurements: ten thousand verdicts for each setting.

    python tests/benchmarks/decisions.py --verdicts 10000

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
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track
from scipy.stats import beta  # type: ignore[import-untyped]  # scikit-learn needs scipy

from harness.paired import duel
from harness.paired.decide import BENEFIT
from harness.paired.duel import duel_rules
from harness.paired.rounds import Outcome, Pair, Reading, Round, contest
from harness.rendering import units
from harness.rendering.tables import Heads, Table

RULES = duel_rules()
"""The rules of a duel, with its usual time budget."""

ROUND_S = 5e-3
"""The simulated length of a round at ratio 1: about 200 rounds fit in the cap. A real duel plays about 1600 rounds of
0.6 ms."""

COPIES = 50

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
        Machine("speed drifts by 20 %", normal(SD), usual, later=drift(0.2)),
        Machine("alike neighbours, correlation 0.5", alike(0.5), usual),
        Machine("alike neighbours, correlation 0.9", alike(0.9), usual),
        Machine("per-process bias alone", normal(layout_sd / 10), usual),
        Machine("2 % wild pairs, all one way", normal(SD), wild(usual, 0.02)),
        Machine("two states, 5 % apart, for 25 rounds", two_states(0.05, share=0.2, rounds=25), usual, promised=False),
    )


def normal(sd: float) -> Draw:
    return lambda rng, contests, values: rng.normal(0, sd, (contests, values))


def heavy_tails(scale: float) -> Draw:
    """Return noise from Student's t distribution with two degrees of freedom, whose variance is infinite."""
    return lambda rng, contests, values: scale * rng.standard_t(2, (contests, values))


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


def wild(usual: Draw, share: float) -> Draw:
    """Return layout errors: the ratios of a share of the pairs are 3 to 13 % too small in all rounds."""

    def draw(rng: np.random.Generator, contests: int, pairs: int) -> Array:
        size = (contests, pairs)
        layout: Array = usual(rng, *size) - (rng.random(size) < share) * rng.uniform(0.03, 0.13, size)
        return layout

    return draw


def play(machine: Machine, ratio: float, thresholds: Sequence[float], contests: int) -> Iterator[Outcome]:
    """Play contests with the true ratio `ratio`."""
    draw, order = np.random.default_rng(1), random.Random(1)
    # A round is shortest at an infinite ratio. One slice beyond the cap may be played, and one slice on each pair.
    slices_s = RULES.cap_s + (1 + RULES.max_pairs) * RULES.slice_s
    rounds = int(2 * slices_s / ROUND_S) + (1 + RULES.max_pairs) * RULES.min_rounds
    while contests > 0:
        size = min(contests, _AT_ONCE)
        noise = machine.noise(draw, size, rounds)
        later = machine.later(draw, size, rounds) if machine.later else np.zeros_like(noise)
        layout = math.log(ratio) + machine.layout(draw, size, RULES.max_pairs)
        for k in range(size):
            now = zip(noise[k].tolist(), later[k].tolist(), strict=True)
            pairs = _Pairs(layout[k].tolist(), now, Reading(ROUND_S / 2, ROUND_S / 2))
            yield contest(pairs.open, thresholds, RULES, rng=order)
        contests -= size


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


@dataclass(slots=True)
class Rates:
    """The results of all contests on one simulated machine with one true ratio: how many were wrong, and how.

    `false` counts wrong tiers, and `missed` last intervals without the truth. `too_good` counts grades whose tier is
    beyond the benefit of the doubt.
    """

    name: str
    promised: bool
    truth: str
    contests: int
    false: int = 0
    missed: int = 0
    too_good: int = 0

    @property
    def kept(self) -> bool:
        """Whether all rates are at most the guaranteed rate."""
        return max(self.false, self.missed) <= RULES.error_rate * self.contests


def measure(task: tuple[int, str, int]) -> Rates:
    number, truth, contests = task
    machine, (ratio, thresholds) = MACHINES[number], TRUTHS[truth]
    rates = Rates(machine.name, machine.promised, truth, contests)
    for outcome in play(machine, ratio, thresholds, contests):
        rates.false += outcome.tier_index not in {None, bisect_right(thresholds, ratio)}
        rates.missed += not outcome.estimate.low <= ratio <= outcome.estimate.high
        rates.too_good += outcome.highest_tier_index() > bisect_right(thresholds, ratio * BENEFIT)
    return rates


def upper_bound(hits: int, tries: int) -> float:
    """Return the upper bound of a hit's probability with a confidence of 95 %, from the number of `hits` in `tries`."""
    return 1.0 if hits == tries else float(beta.ppf(0.95, hits + 1, tries - hits))


def table(results: Sequence[Rates]) -> Table:
    first, rows = results[0], list[tuple[str | float, ...]]()
    promise = f"promised at most {units.percent(RULES.error_rate)}" if first.promised else "beyond the promise"
    for one in results:
        too_good = 1 - (1 - upper_bound(one.too_good, one.contests)) ** COPIES
        rows.append((one.truth, _rate(one.false, one.contests), _rate(one.missed, one.contests), too_good))
    heads: Heads = {"truth": None, "false verdicts": None, "interval misses": None}
    return Table.of(f"{first.name}: {promise}", {**heads, f"too good, one of {COPIES}": units.percent}, rows)


def _rate(hits: int, tries: int) -> str:
    return f"{units.percent(hits / tries)} (≤ {units.percent(upper_bound(hits, tries))})"


def main() -> int:
    parser = argparse.ArgumentParser(description="False verdicts of the decision on planted data.")
    parser.add_argument("--verdicts", type=int, default=10_000, help="contests for each machine and true ratio")
    options = parser.parse_args()
    tasks = [(number, truth, options.verdicts) for number in range(len(MACHINES)) for truth in TRUTHS]
    broken, console = False, Console(width=None if sys.stdout.isatty() else 120)
    with ProcessPoolExecutor(2) as pool:
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
