"""Intervals. An interval is a measured value together with the range in which the true value lies.

The constructors compute the range from all rounds, from a sample, from a count, or from a duel. All functions of this
module are pure.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.paired.duel import Duel

UNLIKELY = 0.04
"""The largest probability that the true median lies outside `Interval.median` of six or more values."""


class ClaimStanding(StrEnum):
    """The result of a claim in one run of a lesson: held, refuted, inconclusive or skipped."""

    HELD = "held"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Interval:
    """A measured value, and the range in which the true value lies. All fields have the same unit.

    `middle` is the best single value. It is NaN if nothing was measured. `noise` is the error that the machine's noise
    alone can cause. It widens the range from `low` to `high` on both sides.
    """

    middle: float
    low: float
    high: float
    noise: float = 0.0

    def __post_init__(self) -> None:
        if self.low > self.high or not self.noise >= 0:
            raise ValueError(f"{self}: `low` must not be above `high`, and `noise` must be a number of at least 0.")

    @classmethod
    def exact(cls, value: float) -> "Interval":
        """Return the interval of a value without uncertainty, such as a count."""
        return cls(float(value), float(value), float(value))

    @classmethod
    def unknown(cls) -> "Interval":
        """Return the interval of a value that was not measured."""
        return cls.exact(math.nan)

    @classmethod
    def plus_minus(cls, middle: float, half_width: float) -> "Interval":
        """Return the interval from `middle` - `half_width` to `middle` + `half_width`."""
        return cls(middle, middle - half_width, middle + half_width)

    @classmethod
    def every(cls, values: Iterable[float]) -> "Interval":
        """Return the interval from the smallest to the largest value, with the values' median as its middle.

        The interval is unknown if `values` is empty or contains a NaN.

        A claim about this interval is held if each value satisfies the claim, and refuted if no value does.
        """
        known = list(values)
        if not known or any(map(math.isnan, known)):
            return cls.unknown()
        return cls(median(known), min(known), max(known))

    @classmethod
    def median(cls, values: Iterable[float]) -> "Interval":
        """Return a confidence interval of the median of the distribution from which `values` are drawn (sign test).

        The sign test assumes nothing about the distribution. From six values on, the interval misses the median with a
        probability of at most 4 % (`UNLIKELY`). At each end, it leaves out one of nine values, or four of twenty. With
        up to eight values, the result equals `every`.
        """
        known = sorted(values)
        left_out, below = 0, 1 + len(known)  # the number of the 2ⁿ cases with at most one value below the median
        while 2 * below <= UNLIKELY * 2 ** len(known):
            left_out += 1
            below += math.comb(len(known), left_out + 1)
        return cls.every(known[left_out : len(known) - left_out])

    @classmethod
    def share(cls, count: float, total: int) -> "Interval":
        """Return the interval of the share `count / total`, two standard errors wide on each side.

        The width is never zero, and both ends lie between 0 and 1. If `total` is 0, the interval is unknown.
        """
        if not total:
            return cls.unknown()
        share = count / total
        width = 2 * math.sqrt(max(share * (1 - share), 1 / total) / total)
        return cls(share, max(share - width, 0.0), min(share + width, 1.0))

    @classmethod
    def duel(cls, duel: "Duel") -> "Interval":
        """Return the interval of the ratio in a duel's result, which already includes the machine's noise.

        After too few rounds, the interval is (0, ∞).
        """
        low, high = duel.low, duel.high
        return cls(duel.ratio, 0.0, math.inf) if low is None or high is None else cls(duel.ratio, low, high)

    def inverse(self) -> "Interval":
        """Return the interval of 1 ÷ a positive value."""
        low, high = (1 / end if end else math.inf for end in (self.high, self.low))
        return Interval(1 / self.middle, low, high)

    @property
    def lowest(self) -> float:
        """The lower end of the range, widened by the noise."""
        return self.low - self.noise

    @property
    def highest(self) -> float:
        """The upper end of the range, widened by the noise."""
        return self.high + self.noise

    @property
    def half_width(self) -> float:
        """The distance from `middle` to the farther end of the range, without noise. It is 0 for an unknown value."""
        return max(self.middle - self.low, self.high - self.middle) if self.low < self.high else 0.0

    def widened(self, noise: float) -> "Interval":
        """Return the interval with its noise increased by `noise`, in the unit of the value."""
        return replace(self, noise=self.noise + noise)

    def with_noise(self, fraction: float) -> "Interval":
        """Return this interval with additional noise: `fraction` times its middle, added on both sides."""
        return self if math.isnan(self.middle) else self.widened(abs(self.middle) * fraction)

    def with_factor(self, noise: float) -> "Interval":
        """Return this interval of a ratio of two times, from `low` ÷ (1 + `noise`) to `high` × (1 + `noise`).

        For ratios far above 1, `with_noise` could reach down to 0 on a noisy machine.
        """
        return replace(self, low=self.low / (1 + noise), high=self.high * (1 + noise))

    def void_if(self, disturbed: bool) -> "Interval":
        """Return this interval. If `disturbed` is true, make it so wide that it confirms and refutes no claim."""
        return self.widened(math.inf) if disturbed else self

    def mapped(self, increasing: Callable[[float], float]) -> "Interval":
        """Return the interval with the function `increasing` applied to its middle and to its ends with noise."""
        return Interval(increasing(self.middle), increasing(self.lowest), increasing(self.highest))

    def compare(self, *, at_least: float = -math.inf, at_most: float = math.inf) -> ClaimStanding:
        """Return HELD if the whole interval lies within the bounds, and REFUTED if the whole interval lies outside.

        In all other cases, and if the value is unknown, return INCONCLUSIVE.
        """
        if math.isnan(self.middle):
            return ClaimStanding.INCONCLUSIVE
        if at_least <= self.lowest and self.highest <= at_most:
            return ClaimStanding.HELD
        if self.highest < at_least or at_most < self.lowest:
            return ClaimStanding.REFUTED
        return ClaimStanding.INCONCLUSIVE


def interval_of(value: "Interval | float") -> Interval:
    """Return `value` if it is an interval. Return the exact interval of `value` if it is a number."""
    return value if isinstance(value, Interval) else Interval.exact(value)


def largest(candidates: Mapping[str, Interval]) -> str | None:
    """Return the name whose interval lies completely above all other intervals.

    Return None if no interval does, or if a value is unknown.
    """
    return _apart(candidates, lambda one, other: one.lowest > other.highest)


def smallest(candidates: Mapping[str, Interval]) -> str | None:
    """Return the name whose interval lies completely below all other intervals.

    Return None if no interval does, or if a value is unknown.
    """
    return _apart(candidates, lambda one, other: one.highest < other.lowest)


def _apart(candidates: Mapping[str, Interval], beats: Callable[[Interval, Interval], bool]) -> str | None:
    for name, interval in candidates.items():
        if all(beats(interval, each) for other, each in candidates.items() if other != name):
            return name
    return None
