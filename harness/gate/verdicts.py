"""Estimate the change of a benchmark's cost from several pairs of new processes, with an interval.

Memory layout and hash seed alone change the speed of equal code by up to 15 % in some processes, so no shape of this
noise may be assumed. One number stands for each pair of processes: the median of its rounds. These numbers are
independent, and each is above or below the true ratio with the same probability. So the number of pairs on one side is
that of heads of a fair coin, and the ends of the interval are two of the pairs' numbers (the sign test).
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
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
    fitting: Callable[[int], float] = lambda _: math.inf,
) -> tuple[Estimate, int | None]:
    """Take pairs of processes until the verdict is clear, the time is up, or the most pairs are taken.

    `pairs(first, end)` measures the pairs with these numbers, `end` excluded, and returns the ratios of the rounds of
    each. After n pairs, `fitting(n)` says how many fit into the time limit in all. Return the estimate, and 0 if the
    cost here is higher than allowed, 2 if it is lower, 1 if it is neither, or None if the interval contains a limit.
    """
    taken: list[Sequence[float]] = []
    for look in PAIRS:
        end = int(min(look, fitting(len(taken)))) if taken else look
        if end <= len(taken):
            break
        taken += pairs(len(taken), end)
        known = interval(taken, error)
        index = tier_index(known, (1 / (1 + allowed), 1 + allowed))
        if index is not None:
            break
    return known, index


def interval(ratios: Sequence[Sequence[float]], error: float) -> Estimate:
    """Return the median ratio of the costs of BASE and of this tree, with its interval, which may be (0, ∞).

    `ratios` has a sequence for each pair of processes, with the ratios of its rounds. `error` is the error rate of the
    whole measurement in one direction. Each of its looks has an equal part of it.
    """
    pairs = sorted(map(median, ratios))
    outside = outside_of(len(pairs), error / len(PAIRS))
    low, high = (pairs[outside - 1], pairs[-outside]) if outside else (0.0, math.inf)
    return Estimate(median(pairs), low, high, sum(map(len, ratios)), len(pairs))


@lru_cache(maxsize=256)
def outside_of(pairs: int, error: float) -> int:
    """Return which of the sorted numbers of pairs, counted from 1, ends the interval on each side. 0: there is none.

    With this number, an end of the interval lies beyond the true ratio with a probability of at most `error`.
    """
    outside, probability = 0, 0.0
    while (probability := probability + math.comb(pairs, outside) / 2**pairs) <= error:
        outside += 1
    return outside
