"""Deciding: ratios of rounds in, verdict out. Pure: no clock, no randomness, no process.

Which gap between ascending thresholds holds the true ratio? Tiers of a task are such thresholds (2, 4 and 8
times the baseline), and FASTER, SAME and SLOWER are the gaps around 1 / (1 + margin) and 1 + margin.
`estimate` gives an interval for the ratio, `cell` names the gap once the whole interval lies in it.

The model: round i of pair j has the log ratio θ + layout_j + noise_ij. θ is what is asked for. layout_j is
what the luck of one process pair's memory layout adds to all of its rounds. noise_ij has the median zero and
the same distribution in all pairs; its tails may be heavy, and neighbouring rounds may be alike. Drift that
meets both sides of a round cancels in it.

Across pairs, a majority. A pair misleads upwards when the median of its rounds is above θ by more than an
allowance. The median of all pairs' medians, less the allowance, is above θ only if more than half of the
pairs mislead. If each does so with probability q at most, and independently, a binomial count bounds that
(the median trick: Jerrum, Valiant and Vazirani 1986, "Random generation of combinatorial structures from a
uniform distribution"). It amplifies: of five pairs with q = 3.2 %, three mislead once in 3,200 times. Of q,
`WILD` is kept for wild pairs, that no distribution describes, or half of q if that is less. The rest, a tail
of the normal distribution beyond z standard deviations, is for layout and noise.

Within a pair, a sign test. How many of n rounds lie above the true median is a binomial count, whose standard
deviation is √(v n) / 2. So the median of the rounds errs by what lies between the quantiles ½ ± z √(v / n) / 2
of the noise (Woodruff 1952, "Confidence intervals for medians and other position measures"). They are read
from the rounds of all pairs together. v is 1 for independent rounds. Alike neighbours tell less than they
count: the share r of their signs that agree, less those that differ, gives their correlation c = sin(π r / 2)
(Sheppard 1899), and v = (1 + c) / (1 - c), as if noise were a first-order autoregression. Layout is an error
of its own and adds in squares. If the pairs' medians differ by more than all that, their own spread counts.

Peeking. The number of looks is planned by `Rules.looks`, and each may err by an equal part of the error rate
(Bonferroni's inequality), so that the looks may depend on each other in any way. The majority makes this
cheap: with 16 looks instead of one, z of five pairs grows from 1.53 to 2.14.

The guarantee: the intervals of one contest ever miss θ, at any of the planned looks, with probability at most
`Rules.error_rate`. The looks and the majority are exact. What a pair is allowed rests on assumptions: pairs
are independent; layout is normal around zero with a standard deviation of at most `Rules.layout_sd`; a pair
is wild one way with probability `WILD` (or q / 2) at most; the binomial count is nearly normal; neighbours
are alike as in an autoregression that fades within a slice. How well it holds, and what happens where an
assumption is broken on purpose, `tests/benchmarks/decisions.py` counts. An error that all pairs share, such
as a clock that does not see the work, is outside the model.
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

_NORMAL_SD_PER_MAD = 1 / _NORMAL.inv_cdf(0.75)
"""Standard deviation of a normal distribution, in units of its median absolute deviation."""

_MOST_ALIKE = 0.95
"""Neighbouring rounds are never taken as more correlated: it can no longer be told from a change of layout."""

WILD = 0.02
"""Share of pairs that may be off by any amount in one direction: two of five are outvoted. With five pairs and
16 looks a look errs with at most 0.03 % on a side. Were 5 % of pairs wild that way it would be 0.26 %, and
with 10 % it would be 1.3 % (`misled`)."""

BENEFIT = 1.1
"""How far above the measured ratio the benefit of the doubt reaches at most. An interval at the cap is a few per cent
wide, also with bursty neighbours; one much wider may be the candidate's own doing, and noise must not be a way to a
tier. Who knows how restless the machine itself was gives less."""

LOOK_GROWTH = 1.25
"""Once all pairs play, each look waits until the time spent has grown by this factor: the interval shrinks by
a tenth between looks, and a verdict comes at most a quarter later than it could."""


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

    min_pairs: int = 5
    """Pairs before any verdict: the fewest of which two can be wrong and be outvoted."""

    max_pairs: int = 9
    """Pairs at most. Each further one narrows the interval less."""

    min_rounds: int = 7
    """Rounds of a slice at least. With fewer than five, five pairs bound nothing at this error rate."""

    slice_s: float = 0.07
    """Time on a pair before looking, so a clear verdict costs `min_pairs` of these."""

    cap_s: float = 6.0
    """Time for the whole contest. `min_pairs` of `min_rounds` are played even beyond it."""

    def __post_init__(self) -> None:
        """Refuse rules that can give no verdict."""
        if not (0 < self.error_rate < 1 and min(self.layout_sd, self.slice_s, self.cap_s) > 0):
            raise MeasurementError("Give an error_rate within (0, 1), and positive layout_sd, slice_s, cap_s.")
        if not (1 <= self.min_pairs <= self.max_pairs and self.min_rounds >= 1):
            raise MeasurementError("Give 1 ≤ min_pairs ≤ max_pairs, and min_rounds of at least 1.")

    @property
    def looks(self) -> int:
        """How often a contest looks at most: after each slice while pairs are added, then as time grows."""
        growth = self.cap_s / (self.max_pairs * self.slice_s)
        later = math.ceil(math.log(growth, LOOK_GROWTH)) if growth > 1 else 0
        return 1 + self.max_pairs - self.min_pairs + later


DEFAULT = Rules()


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of the ratio: the median over pairs of each pair's median, within an interval.

    The interval is (0, ∞) while there is too little to say anything.
    """

    ratio: float
    low: float
    high: float
    rounds: int
    pairs: int

    @property
    def bounded(self) -> bool:
        """Whether enough was measured for an interval at all."""
        return self.low > 0 and math.isfinite(self.high)


def estimate(ratios: Sequence[Sequence[float]], rules: Rules = DEFAULT) -> Estimate:
    """Estimate the true ratio from `ratios`: one inner sequence a pair, one positive number a round, in order.

    Raises `MeasurementError` when there is no round, or a ratio is not a positive finite number.
    """
    pairs = [list(map(_log, pair)) for pair in ratios if pair]
    if not pairs:
        raise MeasurementError("There are no rounds to estimate a ratio from; play at least one.")
    medians = [median(pair) for pair in pairs]
    above, below = _allowances(pairs, medians, rules)
    return Estimate(
        ratio=math.exp(median(medians)),
        low=math.exp(median_low(medians) - above),
        high=math.exp(median_high(medians) + below),
        rounds=sum(map(len, pairs)),
        pairs=len(pairs),
    )


def cell(estimate: Estimate, thresholds: Sequence[float]) -> int | None:
    """Return how many of the ascending `thresholds` the ratio has reached, or None while that is not clear.

    It is clear when the whole interval lies in one gap between them.
    """
    reached = bisect_right(_ascending(thresholds), estimate.low)
    clear = estimate.bounded and reached == bisect_right(thresholds, estimate.high)
    return reached if clear else None


def upper_cell(estimate: Estimate, thresholds: Sequence[float], benefit: float = BENEFIT) -> int:
    """Return the highest gap that the interval touches: what is still open at the cap goes to the student.

    That reaches to `benefit` times the ratio, and no further.

    Raises `MeasurementError` without an interval: the benefit of the doubt needs some evidence.
    """
    if not estimate.bounded:
        raise MeasurementError(f"{estimate.rounds} rounds on {estimate.pairs} pairs bound no ratio; play more of them.")
    return bisect_right(_ascending(thresholds), min(estimate.high, estimate.ratio * benefit))


def misled(pairs: int, q: float) -> float:
    """Return the probability that more than half of `pairs` independent events of probability `q` happen."""
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
    """Return how far above and below the truth the median of a pair that does not mislead may be."""
    z = _deviations(len(pairs), rules)
    # The mean of the pairs' variances is what counts, and each is as 1 / rounds.
    rounds = len(pairs) / sum(1 / len(pair) for pair in pairs)
    if len(pairs) < rules.min_pairs or rounds <= max(1, z * z):
        return math.inf, math.inf
    noise = sorted(value - centre for pair, centre in zip(pairs, medians, strict=True) for value in pair)
    reach = z / 2 * math.sqrt(_likeness(pairs, medians) / rounds)
    within = min(reach, 0.5)  # a reach beyond the outermost round is extrapolated in proportion
    outer = min(len(noise) - 1, math.ceil(len(noise) * (0.5 + within)))
    # Residuals are smaller than noise, for each pair's median lies amid its own rounds.
    widened = reach / within * math.sqrt(rounds / (rounds - 1))
    layout, seen = z * rules.layout_sd, z * _robust_sd(medians)
    above, below = (max(seen, math.hypot(layout, widened * far)) for far in (noise[outer], noise[-1 - outer]))
    return above, below


def _robust_sd(values: Sequence[float]) -> float:
    """Return a standard deviation that one wild value among three or more does not move."""
    centre = median(values)
    return _NORMAL_SD_PER_MAD * median(abs(value - centre) for value in values)


def _likeness(pairs: Sequence[Sequence[float]], medians: Sequence[float]) -> float:
    """Return how many rounds tell as much as one independent round, from how often neighbours' signs agree."""
    agreeing = neighbours = 0
    for pair, centre in zip(pairs, medians, strict=True):
        signs = [(value > centre) - (value < centre) for value in pair]
        agreeing += sum(map(mul, signs, signs[1:]))
        neighbours += len(pair) - 1
    likeness = 1.0
    for _ in range(2):
        # Signs around a pair's own median agree too seldom, by the likeness of one round over their number.
        correlation = math.sin(math.pi / 2 * max(0.0, min(1.0, (agreeing + likeness * len(pairs)) / neighbours)))
        alike = min(_MOST_ALIKE, correlation)
        likeness = (1 + alike) / (1 - alike)
    return likeness


@lru_cache(maxsize=256)
def _deviations(pairs: int, rules: Rules) -> float:
    """Return z: how many standard deviations of layout and noise a pair is allowed.

    Half of the error rate is for one side, and at each look more than half of `pairs` may mislead with an
    equal part of it. Part of the probability q that a pair may mislead with is for wild pairs.
    """
    error = rules.error_rate / 2 / rules.looks
    low, high = 0.0, 0.5
    while high - low > 1e-9:
        q = (low + high) / 2
        low, high = (q, high) if misled(pairs, q) < error else (low, q)
    return _NORMAL.inv_cdf(1 - (low - min(WILD, low / 2)))
