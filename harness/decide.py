"""Deciding: ratios of rounds in, verdict out. Pure: no clock, no randomness, no process.

Which gap between ascending thresholds holds the true ratio? Tiers of a task are such thresholds (2, 4 and 8
times the baseline), and FASTER, SAME and SLOWER are the gaps around 1 / (1 + margin) and 1 + margin.
`estimate` gives an interval for the ratio that may be looked at after every round; `cell` names the gap once
the whole interval lies in it.

The model: round i of pair j has the log ratio θ + layout_j + noise_ij. θ is what is asked for. layout_j is
what the luck of one process pair's memory layout adds to all of its rounds. noise_ij is above zero as often
as below, whatever came before; it may have heavy tails, and drift that meets both sides of a round alike
cancels in it.

Two steps, both about medians.

Within a pair: if t is the median of a pair's ratios, the rounds below t are tosses of a fair coin. Betting
against the coin with a Beta(1, 1) mixture multiplies the stake, after n tosses and k heads, to
2ⁿ / ((n + 1) C(n, k)). Against a fair coin that is a martingale, so by Ville's inequality it ever reaches
1 / alpha with probability at most alpha, however often one looks. The t not refuted so lie between two order
statistics. (Darling and Robbins 1967, "Confidence sequences for mean, variance, and median"; Robbins 1970,
"Statistical methods related to the law of the iterated logarithm"; Howard and Ramdas 2022, "Sequential
estimation of quantiles with applications to A/B testing and best-arm identification".)

Across pairs: a pair misleads upwards when its sequence has missed, or its layout is above the allowance c;
each gets half of a probability q. The median of the pairs' lower ends, less c, is above θ only if more than
half of the pairs mislead. q is such that a binomial count of misleading pairs reaches that with the small
probability set aside for this number of pairs, and c is the normal quantile of layout that belongs to it. So
more pairs narrow both parts, and one wild pair is outvoted.

The guarantee, exactly: with independent pairs, noise as above, and layout that is normal around zero with a
standard deviation of at most `Rules.layout_sd`, the intervals of one contest ever miss θ, at any look, with
probability at most `Rules.error_rate`. Beyond it there is no proof: where pairs disagree by more than
`layout_sd` their own spread takes its place, and wild pairs are simulated in the tests. An error that all
pairs share, such as a clock that does not see the work, is outside the model.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist, median, median_high, median_low

from harness.errors import FairclockError

_NORMAL = NormalDist()

_NORMAL_SD_PER_MAD = 1 / _NORMAL.inv_cdf(0.75)
"""Standard deviation of a normal distribution, in units of its median absolute deviation."""


class MeasurementError(FairclockError):
    """What was measured cannot be judged: a number no clock can have given, or too few of them."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How sure a verdict must be, and what may be spent on it. Times are wall time of both sides together."""

    error_rate: float = 0.01
    """Probability that the interval ever misses the true ratio, over all looks of one contest, both sides."""

    layout_sd: float = 0.005
    """Standard deviation of one pair's log ratio from memory layout alone. Seen on exec'd twins with address
    randomisation off: 0.0015 to 0.0065 (DESIGN section 6)."""

    min_pairs: int = 3
    """Pairs before any verdict: the fewest of which one can be wrong and be outvoted."""

    max_pairs: int = 6
    """Pairs at most. Starting one costs about a second, and more would hardly change the allowance."""

    min_rounds: int = 10
    """Rounds on a pair before looking. With fewer than nine, three pairs bound nothing at this error rate."""

    slice_s: float = 0.12
    """Time on a pair before looking, so a clear verdict costs `min_pairs` of these."""

    cap_s: float = 6.0
    """Time for the whole contest. `min_pairs` of `min_rounds` are played even beyond it."""

    def __post_init__(self) -> None:
        """Refuse rules that can give no verdict."""
        if not (0 < self.error_rate < 1 and min(self.layout_sd, self.slice_s, self.cap_s) > 0):
            raise MeasurementError("Give an error_rate within (0, 1), and positive layout_sd, slice_s, cap_s.")
        if not (1 <= self.min_pairs <= self.max_pairs and self.min_rounds >= 1):
            raise MeasurementError("Give 1 ≤ min_pairs ≤ max_pairs, and min_rounds of at least 1.")


DEFAULT = Rules()


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of the ratio: the median over pairs of each pair's median, within an interval.

    The interval may be looked at as often as one likes. It is (0, ∞) while there is too little to say
    anything.
    """

    ratio: float
    low: float
    high: float
    rounds: int
    pairs: int
    allowance: float
    """What the interval allows for layout: this much of log ratio on each side."""

    @property
    def noisy(self) -> bool:
        """Whether the interval is wide because of the rounds' spread, more than because of layout."""
        return not self.bounded or math.log(self.high / self.low) > 4 * self.allowance

    @property
    def bounded(self) -> bool:
        """Whether enough was measured for an interval at all."""
        return self.low > 0 and math.isfinite(self.high)


def estimate(ratios: Sequence[Sequence[float]], rules: Rules = DEFAULT) -> Estimate:
    """Estimate the true ratio from `ratios`: one inner sequence a pair, one positive number a round.

    Raises `MeasurementError` when there is no round, or a ratio is not a positive finite number.
    """
    pairs = [sorted(map(_log, pair)) for pair in ratios if pair]
    if not pairs:
        raise MeasurementError("There are no rounds to estimate a ratio from; play at least one.")
    medians = [median(pair) for pair in pairs]
    low, high, allowance = -math.inf, math.inf, math.inf
    if len(pairs) >= rules.min_pairs:
        misleads = _misleading_probability(len(pairs), rules)
        layout_sd = max(rules.layout_sd, _robust_sd(medians))
        allowance = layout_sd * _NORMAL.inv_cdf(1 - misleads / 2)
        bounds = [_bounds(pair, alpha=misleads) for pair in pairs]
        low = median_low(low for low, _ in bounds) - allowance
        high = median_high(high for _, high in bounds) + allowance
    return Estimate(
        ratio=math.exp(median(medians)),
        low=math.exp(low),
        high=math.exp(high),
        rounds=sum(map(len, pairs)),
        pairs=len(pairs),
        allowance=allowance,
    )


def cell(estimate: Estimate, thresholds: Sequence[float]) -> int | None:
    """Return how many of the ascending `thresholds` the ratio has reached, or None while that is not clear.

    It is clear when the whole interval lies in one gap between them.
    """
    reached = bisect_right(_ascending(thresholds), estimate.low)
    clear = estimate.bounded and reached == bisect_right(thresholds, estimate.high)
    return reached if clear else None


def upper_cell(estimate: Estimate, thresholds: Sequence[float]) -> int:
    """Return the highest gap that the interval touches: what is still open at the cap goes to the student.

    Raises `MeasurementError` without an interval: the benefit of the doubt needs some evidence.
    """
    if not estimate.bounded:
        raise MeasurementError(f"{estimate.rounds} rounds on {estimate.pairs} pairs bound no ratio; play more of them.")
    return bisect_right(_ascending(thresholds), estimate.high)


def _ascending(thresholds: Sequence[float]) -> Sequence[float]:
    if not all(a < b for a, b in pairwise((0.0, *thresholds, math.inf))):
        raise MeasurementError(f"Thresholds must be positive, finite and ascending, not {list(thresholds)}.")
    return thresholds


def _log(ratio: float) -> float:
    if not (ratio > 0 and math.isfinite(ratio)):
        raise MeasurementError(f"The ratio of a round is {ratio}; measure again, it must be positive.")
    return math.log(ratio)


def _robust_sd(values: Sequence[float]) -> float:
    """Return a standard deviation that one wild value among three or more does not move."""
    centre = median(values)
    return _NORMAL_SD_PER_MAD * median(abs(value - centre) for value in values)


@lru_cache(maxsize=256)
def _misleading_probability(pairs: int, rules: Rules) -> float:
    """Return how probable it may be that one pair misleads one way.

    Such that more than half of `pairs` do so with no more than the error set aside for this number of pairs.
    A side has half of the error rate, and spends 1/2 of that at the first number of pairs looked at, then
    1/6, 1/12, 1/20, which add up to one over any number of looks.
    """
    look = pairs - rules.min_pairs + 1
    error = rules.error_rate / 2 / (look * (look + 1))
    low, high = 0.0, 0.5
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if _majority(pairs, middle) < error else (low, middle)
    return low


def _majority(pairs: int, q: float) -> float:
    """Return the probability that more than half of `pairs` independent events of probability `q` happen."""
    return sum(math.comb(pairs, k) * q**k * (1 - q) ** (pairs - k) for k in range(pairs // 2 + 1, pairs + 1))


def _bounds(ordered: Sequence[float], alpha: float) -> tuple[float, float]:
    """Return the interval for the median of one pair's sorted values, wrong at most `alpha` / 2 on a side."""
    refuted = _refuted_counts(len(ordered), alpha)
    return (ordered[refuted - 1], ordered[-refuted]) if refuted else (-math.inf, math.inf)


@lru_cache(maxsize=4096)
def _refuted_counts(tosses: int, alpha: float) -> int:
    """Return how many of the counts 0, 1, 2, … of heads in `tosses` are too few for a fair coin."""
    most_log_choose = tosses * math.log(2) - math.log(tosses + 1) + math.log(alpha)
    log_choose, heads = 0.0, 0
    while 2 * heads < tosses and log_choose <= most_log_choose:
        log_choose += math.log((tosses - heads) / (heads + 1))
        heads += 1
    return heads
