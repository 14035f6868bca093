"""Claims. A claim is a sentence that a lesson states before it measures, with bounds for the measured value.

In each run, a claim gets one of four results. It is held if the whole measured interval lies within the bounds. It is
refuted if the whole interval lies outside, and otherwise inconclusive. A claim is skipped if the machine lacks
something that the measurement needs, such as a compiler. All functions of this module are pure.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from harness.rendering import units
from lessons.engine.interval import ClaimStanding, Interval
from lessons.engine.phrases import phrase


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that a lesson states, with the smallest and the largest measured value for which the sentence holds.

    `unit` formats the measured value and the bounds as text.
    """

    id: str
    sentence: str
    at_least: float = -math.inf
    at_most: float = math.inf
    unit: Callable[[float], str] = units.number

    def __post_init__(self) -> None:
        if not self.at_least <= self.at_most:
            raise ValueError(f"Claim {self.id}: the bounds {self.at_least} and {self.at_most} are in the wrong order.")

    @property
    def bounds(self) -> str:
        """The bounds as text, such as "at least 2 s". Empty if the claim has no bounds."""
        low, high = self.at_least, self.at_most
        if low == high:
            return self.unit(low)
        if math.isinf(low):
            return "" if math.isinf(high) else f"at most {self.unit(high)}"
        return f"at least {self.unit(low)}" if math.isinf(high) else f"{self.unit(low)} to {self.unit(high)}"

    def settled(self, measured: Interval, shown: str = "") -> "SettledClaim":
        """Return this claim with the result that follows from `measured`: held, refuted or inconclusive.

        `shown` replaces the printed value.
        """
        standing = measured.compare(at_least=self.at_least, at_most=self.at_most)
        reason = self._reason(measured) if standing is ClaimStanding.INCONCLUSIVE else ""
        value = "" if math.isnan(measured.middle) else shown or self.unit(measured.middle)
        return SettledClaim(self, measured, standing, reason, value)

    def skipped(self, reason: str) -> "SettledClaim":
        """Return this claim as skipped. `reason` names what the machine lacks, and how to get it."""
        return SettledClaim(self, Interval.unknown(), ClaimStanding.SKIPPED, reason, "")

    def _reason(self, measured: Interval) -> str:
        if math.isnan(measured.middle):
            return phrase("nothing could be measured")
        without_noise = Interval(measured.middle, measured.low, measured.high)
        if without_noise.compare(at_least=self.at_least, at_most=self.at_most) is ClaimStanding.INCONCLUSIVE:
            return phrase("the measurement was too uncertain")
        return phrase("the machine was too noisy")


@dataclass(frozen=True, slots=True)
class SettledClaim:
    """A claim with its measured value and its result in one run.

    `reason` explains an inconclusive or skipped result. For a held or refuted claim, it is empty. `shown` is the
    measured value as text. It is empty if nothing was measured.
    """

    claim: Claim
    measured: Interval
    standing: ClaimStanding
    reason: str
    shown: str

    @property
    def id(self) -> str:
        """The id of the claim, unique in its lesson."""
        return self.claim.id

    @property
    def range_shown(self) -> str:
        """The measured interval as text, such as "1.2× to 1.8×".

        It equals `shown` if there is no interval, or if the lesson replaced the measured value by a text.
        """
        unit, measured = self.claim.unit, self.measured
        ends = (unit(measured.low), unit(measured.high))
        known = math.isfinite(measured.low) and math.isfinite(measured.high)
        return " to ".join(dict.fromkeys(ends)) if known and self.shown == unit(measured.middle) else self.shown
