"""Compute an interval for the true ratio of two costs, and a verdict, from the ratios of measured rounds.

A round times a baseline and a candidate one directly after the other. A pair is a newly started baseline and candidate,
which run many rounds. A contest consists of all rounds of several pairs. Its verdict states which thresholds the true
ratio reaches, for example the tiers 2, 4 and 8 of a task. A duel has the thresholds 1 / (1 + margin) and 1 + margin.

The model. The log ratio of round i of pair j is θ + layout_j + noise_ij. The value θ is the true log ratio. layout_j is
the effect of the memory layouts of pair j. It is the same in all rounds of the pair. noise_ij has the median zero and
the same distribution in all pairs. It may have outliers, and neighbouring rounds may be correlated. A slow change of
the machine's speed changes both times of a round by the same factor, so their ratio stays the same.

Between pairs, the majority decides. The allowance is the error that layout and noise may cause in the median of a
pair's rounds. A pair errs upwards if this median lies above θ by more than the allowance. Subtract the allowance from
each pair's median. The median of these differences lies above θ only if more than half of the pairs err. Assume that
pairs err independently, each with a probability of at most q. Then a binomial distribution gives an upper limit for the
probability that a majority errs. This is the median trick (Jerrum, Valiant and Vazirani 1986, "Random generation of
combinatorial structures from a uniform distribution"). It makes errors rare: with q = 3.3 %, three or more of five
pairs err once in 2,800 contests. A part of q is for outliers, which are pairs with an error of any size. This part is
`OUTLIER_RATE`, or q / 2 if q / 2 is smaller. The rest of q is for layout and noise. It is the tail of a normal
distribution beyond z standard deviations.

Within a pair, the method is a sign test. Of n rounds, the number above the true median has a binomial distribution with
the standard deviation √(v n) / 2. So the error of the rounds' median lies between two quantiles of the noise: ½ ± z
√(v / n) / 2 (Woodruff 1952, "Confidence intervals for medians and other position measures"). These quantiles are
computed from the rounds of all pairs together. The variance factor v is 1 for independent rounds. Correlated
neighbouring rounds hold less information. Let r be the share of neighbouring rounds on the same side of the median,
minus the share on different sides. The correlation of neighbours is c = sin(π r / 2) (Sheppard 1899), and v = (1 + c) /
(1 - c), as in a first-order autoregression. Neighbouring pairs have similar noise too, if it changes more slowly than
pairs do. For this, z is multiplied by √w. In the same autoregression, w is 1 plus twice the sum of all correlations of
a pair's mean with those of later pairs. The errors from layout and noise are independent, so the allowance is the root
of the sum of their squares. If the pairs' medians differ by more, the spread of the medians is used instead.

Repeated looks. A look is a computation of the interval while the contest may still continue. `Rules.looks` is the
planned number of looks. Each look gets an equal part of the error rate (Bonferroni's inequality). This is correct even
if the looks depend on each other. The interval becomes only a little wider: with 14 looks instead of one, z for five
pairs grows from 1.53 to 2.13.

The guarantee. In one contest, the probability that an interval at any planned look misses θ is at most
`Rules.error_rate`. The bounds for the looks and for the majority are exact. The allowance of a pair depends on these
assumptions:

- The layouts of pairs are independent. Their effect is normal around zero, with a standard deviation of at most
  `Rules.layout_sd`.
- A pair is an outlier in one direction with a probability of at most `OUTLIER_RATE` (or q / 2).
- The binomial distribution is nearly normal.
- The correlation of rounds fades with their distance, as in an autoregression.

`tests/benchmarks/decisions.py` counts how often the guarantee holds, even when an assumption is violated on purpose.
The model does not include errors that all pairs share, such as a clock that does not count the work.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import mul
from statistics import NormalDist, median, median_high, median_low

from harness.errors import FairclockError

_NORMAL = NormalDist()
_SD_PER_MAD = 1 / _NORMAL.inv_cdf(0.75)  # of a normal distribution: standard deviation ÷ median absolute deviation
_MAX_CORRELATION = 0.95  # a higher correlation of rounds cannot be distinguished from a change of layout

OUTLIER_RATE = 0.02
"""The assumed share of pairs with an error of any size in one direction. If 5 % of the pairs were outliers, a majority
of five pairs would err with a probability of 0.27 %, and with 10 % outliers, with 1.3 % (`majority_error`)."""

BENEFIT = 1.1
"""A candidate gets a tier in doubt only if the tier's threshold is at most this factor times the measured ratio.

A tier is in doubt if the interval contains its threshold at the time limit. A candidate could make the interval wider
with its own noise. The caller passes a smaller factor if a control measurement showed less noise.
"""

LOOK_GROWTH = 1.25
"""After the first look, the ratio is estimated again each time the measuring time has grown by this factor.
So a verdict takes at most a quarter more time than necessary."""


class MeasurementError(FairclockError):
    """The measurements give no result, for example because a time is zero or because there are too few rounds."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The error rate and the time limits of a comparison of baseline and candidate. Times are wall times."""

    error_rate: float = 0.01
    """Probability that, in one comparison, any of the computed intervals misses the true ratio, in either direction."""

    layout_sd: float = 0.005
    """Standard deviation of a pair's log ratio that memory layout alone causes. Between newly started processes without
    address randomisation, 0.0015 to 0.0065 were measured."""

    min_pairs: int = 5
    """Number of pairs before the first verdict. Of five pairs, two wrong pairs are still a minority."""

    max_pairs: int = 9
    """The largest number of pairs. Each additional pair makes the interval narrower, by less than the one before."""

    min_rounds: int = 7
    """Smallest number of rounds of a slice. With fewer than five, five pairs give no interval at this error rate."""

    slice_s: float = 0.07
    """Seconds for which a pair is timed before the next pair continues. A clear verdict takes `min_pairs` slices."""

    cap_s: float = 6.0
    """Time limit of all measurements in seconds. The first `min_pairs` slices are measured even if they take longer."""

    def __post_init__(self) -> None:
        if not (0 < self.error_rate < 1 and min(self.layout_sd, self.slice_s, self.cap_s) > 0):
            raise MeasurementError("Give an error_rate within (0, 1), and positive layout_sd, slice_s, cap_s.")
        if not (1 <= self.min_pairs <= self.max_pairs and self.min_rounds >= 1):
            raise MeasurementError("Give 1 ≤ min_pairs ≤ max_pairs, and min_rounds of at least 1.")

    @property
    def looks(self) -> int:
        """The largest number of estimates: after `min_pairs` pairs, then at each growth of the time by LOOK_GROWTH."""
        growth = self.cap_s / (self.min_pairs * self.slice_s)
        return 1 + max(0, math.ceil(math.log(growth, LOOK_GROWTH)))


DEFAULT = Rules()


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated ratio of the baseline's cost to the candidate's cost, with its interval from `low` to `high`.

    The interval is (0, ∞) if there are too few rounds.
    """

    ratio: float
    low: float
    high: float
    rounds: int
    pairs: int

    @property
    def bounded(self) -> bool:
        """Whether there are enough rounds for a finite interval."""
        return self.low > 0 and math.isfinite(self.high)


def estimate(ratios: Sequence[Sequence[float]], rules: Rules = DEFAULT) -> Estimate:
    """Return the estimated ratio of the baseline's cost to the candidate's cost, with its confidence interval.

    `ratios` has a sequence for each pair of processes, with the ratios of its rounds in order.

    Raise `MeasurementError` if there are no rounds, or if a ratio is not a positive finite number.
    """
    pairs = [list(map(_log, pair)) for pair in ratios if pair]
    if not pairs:
        raise MeasurementError("There are no rounds to estimate a ratio from; measure at least one.")
    medians = [median(pair) for pair in pairs]
    above, below = _allowances(pairs, medians, rules)
    return Estimate(
        ratio=math.exp(median(medians)),
        low=math.exp(median_low(medians) - above),
        high=math.exp(median_high(medians) + below),
        rounds=sum(map(len, pairs)),
        pairs=len(pairs),
    )


def tier_index(estimate: Estimate, thresholds: Sequence[float]) -> int | None:
    """Return how many of the ascending `thresholds` the ratio reaches, or None if the interval contains a threshold.

    The result is also None if there are too few rounds for an interval.
    """
    reached = bisect_right(_ascending(thresholds), estimate.low)
    clear = estimate.bounded and reached == bisect_right(thresholds, estimate.high)
    return reached if clear else None


def highest_tier_index(estimate: Estimate, thresholds: Sequence[float], benefit: float = BENEFIT) -> int:
    """Return the largest number of the ascending `thresholds` that the true ratio may reach.

    The true ratio is assumed to be at most the upper end of the interval, and at most `benefit` times the measured
    ratio. Raise `MeasurementError` if there are too few rounds for an interval.
    """
    if not estimate.bounded:
        raise MeasurementError(
            f"{estimate.rounds} rounds on {estimate.pairs} pairs are too few for an interval; measure more of them."
        )
    return bisect_right(_ascending(thresholds), min(estimate.high, estimate.ratio * benefit))


def majority_error(pairs: int, q: float) -> float:
    """Return the probability that more than half of `pairs` pairs err, each independently with probability `q`."""
    return sum(math.comb(pairs, k) * q**k * (1 - q) ** (pairs - k) for k in range(pairs // 2 + 1, pairs + 1))


def _ascending(thresholds: Sequence[float]) -> Sequence[float]:
    if not all(a < b for a, b in pairwise((0.0, *thresholds, math.inf))):
        raise MeasurementError(f"Thresholds must be positive, finite and ascending, not {list(thresholds)}.")
    return thresholds


def _log(ratio: float) -> float:
    if not 0 < ratio < math.inf:
        raise MeasurementError(f"The ratio of a round is {ratio}; measure again, it must be positive.")
    return math.log(ratio)


def _allowances(pairs: Sequence[Sequence[float]], medians: Sequence[float], rules: Rules) -> tuple[float, float]:
    z = _deviations(len(pairs), rules)
    # The variance of a pair's median is proportional to 1 / rounds, and the mean of these variances is needed.
    rounds = len(pairs) / sum(1 / len(pair) for pair in pairs)
    if len(pairs) < rules.min_pairs or rounds <= max(1, z * z):
        return math.inf, math.inf
    noise = sorted(value - centre for pair, centre in zip(pairs, medians, strict=True) for value in pair)
    correlation = _correlation(pairs, medians)
    noisy_z = z * math.sqrt(_variance_factor_of_pairs(correlation, rounds))
    reach = noisy_z / 2 * math.sqrt(_variance_factor(correlation) / rounds)
    within = min(reach, 0.5)  # beyond the outermost round, the distance is extrapolated proportionally
    outer = min(len(noise) - 1, math.ceil(len(noise) * (0.5 + within)))
    # Residuals are smaller than the noise, because each pair's median comes from its own rounds.
    widened = reach / within * math.sqrt(rounds / (rounds - 1))
    layout, seen = z * rules.layout_sd, noisy_z * _robust_sd(medians)
    above, below = (max(seen, math.hypot(layout, widened * far)) for far in (noise[outer], noise[-1 - outer]))
    return above, below


def _robust_sd(values: Sequence[float]) -> float:
    centre = median(values)
    return _SD_PER_MAD * median(abs(value - centre) for value in values)


def _correlation(pairs: Sequence[Sequence[float]], medians: Sequence[float]) -> float:
    # This is c of the module's docstring.
    agreeing = neighbours = 0
    for pair, centre in zip(pairs, medians, strict=True):
        signs = [(value > centre) - (value < centre) for value in pair]
        agreeing += sum(map(mul, signs, signs[1:]))
        neighbours += len(pair) - 1
    limited = 0.0
    for _ in range(2):
        # Signs relative to a pair's own median agree too rarely; the term with len(pairs) corrects this.
        corrected = (agreeing + _variance_factor(limited) * len(pairs)) / neighbours
        limited = min(_MAX_CORRELATION, math.sin(math.pi / 2 * max(0.0, min(1.0, corrected))))
    return limited


def _variance_factor(correlation: float) -> float:
    # This is v of the module's docstring.
    return (1 + correlation) / (1 - correlation)


def _variance_factor_of_pairs(correlation: float, rounds: float) -> float:
    # This is w of the module's docstring.
    faded = math.pow(correlation, rounds)
    shared = correlation * ((1 - faded) / (1 - correlation)) ** 2
    alone = rounds * _variance_factor(correlation) - 2 * correlation * (1 - faded) / (1 - correlation) ** 2
    return 1 + 2 * shared / alone / (1 - faded)


@lru_cache(maxsize=256)
def _deviations(pairs: int, rules: Rules) -> float:
    # This is z of the module's docstring. Each direction gets half of the error rate, and each look gets an equal part
    # of this half. This part is the probability that a majority of the pairs errs, which determines q.
    error = rules.error_rate / 2 / rules.looks
    low, high = 0.0, 0.5
    while high - low > 1e-9:
        q = (low + high) / 2
        low, high = (q, high) if majority_error(pairs, q) < error else (low, q)
    return _NORMAL.inv_cdf(1 - (low - min(OUTLIER_RATE, low / 2)))
