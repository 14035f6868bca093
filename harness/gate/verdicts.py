"""Estimate the change of a benchmark's cost from several pairs of new processes, with an interval.

Memory layout and hash seed alone change the speed of equal code by up to 15 % in some processes, and a short burst of
other work can double one measured time, so no shape of this noise is assumed. One number stands for each pair of
processes: the median ratio of its rounds, as a logarithm. These numbers are independent. Equal code has the same noise
on both sides, so a number is as likely to be above the true value by some amount as below it by the same amount.

The interval has all values for which the numbers below it have a usual sum of scores. The score of a number is the rank
of its distance, nearest first, but at most a quarter of the pairs. So one outlier counts no more than most others do.
Simulated and recorded intervals are narrower by a seventh than those of the sign test, which gives each number the same
score. They are narrower than Wilcoxon's, too, whose scores are all ranks, because the noise has outliers.

Source: Policello and Hettmansperger, Adaptive Robust Procedures for the One-Sample Location Problem, 1976.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from statistics import median
from typing import Final

from harness.paired.decide import Estimate, tier_index

PAIRS: Final = (10, 14, 20, 28, 40, 56, 80)
"""The numbers of pairs after which the interval is computed. The measurement ends at the first clear verdict.

If the time limit allows fewer pairs, the last number is smaller."""

RUN_ERROR: Final = 1e-3
"""The largest probability that a run is red although no cost has changed by more than allowed."""

MEASUREMENT_ERROR: Final = 0.01
"""The largest probability that the interval of one measurement lies beyond the true change, in one direction."""

_LOOK_SHARE: Final = 1 / 5
"""The part of a measurement's error rate that each look has. It may be more than a seventh, because looks at mostly the
same numbers mostly err together: simulated, all looks together have at most 87 % of the error rate."""

_MOST_SCORE: Final = 1 / 4


def measurement_error(benchmarks: int) -> float:
    """Return the largest error rate of one measurement of one benchmark, in one direction.

    A benchmark is red only if two measurements with different processes agree. So the error rate of a run is at most
    this number squared, times the number of benchmarks.
    """
    return min(MEASUREMENT_ERROR, math.sqrt(RUN_ERROR / max(1, benchmarks)))


def decide(
    pairs: Callable[[int, int], Sequence[Sequence[float]]],
    error: float,
    allowed: float,
    fitting: Callable[[Estimate], float] = lambda _: math.inf,
) -> tuple[Estimate, int | None]:
    """Take pairs of processes until the verdict is clear, the time is up, or the most pairs are taken.

    `pairs(first, end)` measures the pairs with these numbers, `end` excluded, and returns the ratios of the rounds of
    each. After each look but the last, `fitting` says how many pairs may be measured in all. Return the estimate, and 0
    if the cost here is higher than allowed, 2 if it is lower, 1 if it is neither, or None if the interval contains a
    limit.
    """
    taken = list(pairs(0, PAIRS[0]))
    for following in (*PAIRS[1:], 0):
        known = interval(taken, error)
        index = tier_index(known, (1 / (1 + allowed), 1 + allowed))
        end = int(min(following, fitting(known)))
        if index is not None or end <= len(taken):
            break
        taken += pairs(len(taken), end)
    return known, index


def most_pairs(known: Estimate, allowed: float, in_limit: float, in_more: float) -> float:
    """Return how many pairs may be measured, if `in_limit` fit into the time limit, and `in_more` into a few times it.

    What seems to be slower gets the longer time, because a clear verdict is worth it. Everything else gets it only
    until the third look, so that slow calls get a useful interval, too.
    """
    seems_slower = known.ratio * (1 + allowed) < 1
    return max(in_limit, in_more if seems_slower else min(in_more, PAIRS[2]))


def interval(ratios: Sequence[Sequence[float]], error: float) -> Estimate:
    """Return the ratio of the costs of BASE and of this tree, with its interval, which may be (0, ∞).

    `ratios` has a sequence for each pair of processes, with the ratios of its rounds. `error` is the error rate of the
    whole measurement in one direction.
    """
    pairs = [math.log(median(rounds)) for rounds in ratios]
    low, high = _least(pairs, error), -_least([-one for one in pairs], error)
    return Estimate(math.exp(median(pairs)), math.exp(low), math.exp(high), sum(map(len, ratios)), len(pairs))


def _least(pairs: Sequence[float], error: float) -> float:
    """Return the low end of the interval: above it, the numbers below a value have a usual sum of scores.

    The sum only changes at the numbers and in the middle between two of them.
    """
    if not (usual := least_usual(len(pairs), error * _LOOK_SHARE)):
        return -math.inf
    scores = _scores(len(pairs))
    changes = sorted((one + other) / 2 for at, one in enumerate(pairs) for other in pairs[at:])

    def sum_after(change: int) -> int:
        value = (changes[change] + changes[change + 1]) / 2
        nearest = sorted(pairs, key=lambda one: abs(one - value))
        return sum(score for score, one in zip(scores, nearest, strict=True) if one <= value)

    return changes[bisect_left(range(len(changes) - 1), usual, key=sum_after)]


@lru_cache(maxsize=256)
def least_usual(pairs: int, error: float) -> int:
    """Return the least sum of scores that is usual: lower ones together have at most the probability `error`."""
    sums = [1.0]  # the probability of each sum
    for score in _scores(pairs):
        without, with_it = sums + [0.0] * score, [0.0] * score + sums
        sums = [(one + other) / 2 for one, other in zip(without, with_it, strict=True)]
    return sum(probability <= error for probability in accumulate(sums))


def _scores(pairs: int) -> list[int]:
    most = max(1, round(pairs * _MOST_SCORE))
    return [min(rank, most) for rank in range(1, pairs + 1)]
