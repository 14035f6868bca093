"""Compute an interval for the true ratio of two costs, and a verdict, from the ratios of measured rounds.

`harness/README.md` describes the model, the method and its guarantee ("The decision rule"). Its c is `_correlation`, v
`_variance_factor`, w `_variance_factor_of_pairs`, and z `_deviations`.
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
"""The assumed share of pairs with an error of any size in one direction."""

BENEFIT = 1.1
"""A candidate gets a tier whose threshold is in its interval at the time limit only if the threshold is at most this
factor times the measured ratio. Otherwise a candidate could make the interval wider with its own noise."""

LOOK_GROWTH = 1.25  # the ratio is estimated again each time the measuring time has grown by this factor


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

    min_pairs: int = 5  # before the first verdict: of five pairs, two wrong pairs are still a minority
    max_pairs: int = 9
    min_rounds: int = 7  # of a slice: with fewer than five, five pairs give no interval at this error rate
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
    """The estimated ratio of the costs of baseline and candidate. With too few rounds, its interval is (0, ∞)."""

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

    `ratios` has a sequence for each pair, with the ratios of its rounds in order. Raise `MeasurementError` if there are
    no rounds, or if a ratio is not a positive finite number.
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
    """Return how many of the ascending `thresholds` the ratio reaches, or None if the interval contains one."""
    reached = bisect_right(_ascending(thresholds), estimate.low)
    clear = estimate.bounded and reached == bisect_right(thresholds, estimate.high)
    return reached if clear else None


def highest_tier_index(estimate: Estimate, thresholds: Sequence[float], benefit: float = BENEFIT) -> int:
    """Return how many of the ascending `thresholds` are at most the end of the interval, and at most `benefit` × ratio.

    Raise `MeasurementError` if there are too few rounds for an interval.
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
    layout, seen = z * rules.layout_sd, noisy_z * robust_sd(medians)
    above, below = (max(seen, math.hypot(layout, widened * far)) for far in (noise[outer], noise[-1 - outer]))
    return above, below


def robust_sd(values: Sequence[float]) -> float:
    """Return the standard deviation that normal values with this median distance from their median have."""
    centre = median(values)
    return _SD_PER_MAD * median(abs(value - centre) for value in values)


def _correlation(pairs: Sequence[Sequence[float]], medians: Sequence[float]) -> float:
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
    return (1 + correlation) / (1 - correlation)


def _variance_factor_of_pairs(correlation: float, rounds: float) -> float:
    faded = math.pow(correlation, rounds)
    shared = correlation * ((1 - faded) / (1 - correlation)) ** 2
    alone = rounds * _variance_factor(correlation) - 2 * correlation * (1 - faded) / (1 - correlation) ** 2
    return 1 + 2 * shared / alone / (1 - faded)


@lru_cache(maxsize=256)
def _deviations(pairs: int, rules: Rules) -> float:
    # Each direction gets half of the error rate, and each look gets an equal part
    # of this half. This part is the probability that a majority of the pairs errs, which determines q.
    error = rules.error_rate / 2 / rules.looks
    low, high = 0.0, 0.5
    while high - low > 1e-9:
        q = (low + high) / 2
        low, high = (q, high) if majority_error(pairs, q) < error else (low, q)
    return _NORMAL.inv_cdf(1 - (low - min(OUTLIER_RATE, low / 2)))
