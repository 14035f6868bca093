"""A claim: a sentence the lesson holds to be true, and what this machine had to say about it just now.

`claim` is pure. It settles nothing by the sign of a noisy number: a measurement whose doubt reaches across a
bound is inconclusive, and so is one that this machine, comparing the same code with itself today, could not
have told. What needs a part that the machine lacks is skipped, never assumed: see `skipped`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

UNLIKELY = 0.04
"""How often chance alone may put the median outside of the interval that `middle` gives."""


class Standing(StrEnum):
    """How a claim fared on this machine in this run."""

    HELD = "held"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with its measured value, in the claim's own unit, and the bounds that it had to lie within.

    `error` is the measurement's own doubt, `noise` what today's A/A control adds; both are half widths in
    the unit of `measured`. `reason` says what stood in the way of an inconclusive claim, and what the machine
    lacks for a skipped one; it is empty for the others. A skipped claim has measured nothing: NaN. `shown` and
    `wanted` are the measured value and the bounds as people read them, empty where nobody wrote them out.
    """

    id: str
    measured: float
    low: float
    high: float
    error: float
    noise: float
    standing: Standing
    reason: str = ""
    shown: str = ""
    wanted: str = ""


def claim(
    id: str,  # noqa: A002 - it is what the thing is called, and it is given by position
    measured: float,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    error: float = 0.0,
    noise: float = 0.0,
) -> Claim:
    """Settle whether `measured` lies within [`low`, `high`], bounds included.

    It is held when all of `measured` ± (`error` + `noise`) lies within, refuted when all of it lies outside,
    and inconclusive otherwise. Units are the caller's, the same for all five. Raises `ValueError` for bounds
    in the wrong order and for a doubt that is negative or not a number.
    """
    if not low <= high:
        raise ValueError(f"Claim {id}: the bounds {low} and {high} are in the wrong order.")
    if not (error >= 0 and noise >= 0):
        raise ValueError(f"Claim {id}: a doubt is a half width, zero or more; got {error} and {noise}.")
    measured = float(measured)  # a yes or no is 1 or 0, also where it is written down
    standing = _standing(measured, low, high, error + noise)
    return Claim(id, measured, low, high, error, noise, standing, _reason(measured, low, high, error, standing))


def skipped(id: str, reason: str) -> Claim:  # noqa: A002 - as in `claim`
    """Return the claim as skipped: this machine lacks what it takes to measure it.

    `reason` names the missing part and what brings it, in a few words. Raises `ValueError` without one.
    """
    if not reason.strip():
        raise ValueError(f"Claim {id}: a skipped claim says what this machine lacks.")
    return Claim(id, math.nan, -math.inf, math.inf, 0.0, 0.0, Standing.SKIPPED, reason)


def _standing(measured: float, low: float, high: float, doubt: float) -> Standing:
    if math.isnan(measured):
        return Standing.INCONCLUSIVE
    if low <= measured - doubt and measured + doubt <= high:
        return Standing.HELD
    if measured + doubt < low or high < measured - doubt:
        return Standing.REFUTED
    return Standing.INCONCLUSIVE


def _reason(measured: float, low: float, high: float, error: float, standing: Standing) -> str:
    if standing is not Standing.INCONCLUSIVE:
        return ""
    if math.isnan(measured):
        return "nothing could be measured"
    if _standing(measured, low, high, error) is Standing.INCONCLUSIVE:
        return "the measurement itself was too uncertain"
    return "the machine was too restless today"


def bounds_in_words(low: float, high: float, unit: Callable[[float], str]) -> str:
    """Return the bounds of a claim as people read them, each written by `unit`; empty where there are none."""
    if low == high:
        return unit(low)
    if math.isinf(low):
        return "" if math.isinf(high) else f"at most {unit(high)}"
    return f"at least {unit(low)}" if math.isinf(high) else f"{unit(low)} to {unit(high)}"


def towards(measured: float, ends: tuple[float, float], low: float, high: float) -> float:
    """Return the doubt that an interval with these `ends` puts in the way of a claim with the bounds `low` and `high`.

    That is the side of it which reaches towards a bound: for "at least 2", of a value above 2 how far the interval
    goes down, of one below how far it goes up, even to infinity on the side that nobody asked about.
    """
    down, up = measured - ends[0], ends[1] - measured
    if measured < low:
        return up
    if measured > high:
        return down
    return max(0.0 if math.isinf(low) else down, 0.0 if math.isinf(high) else up)


def counted(share: float, tests: int) -> float:
    """Return the doubt of a share that was counted in so many tests: two of its standard errors, and never none."""
    return 2 * math.sqrt(max(share * (1 - share), 1 / tests) / tests)


def every(values: Sequence[float]) -> tuple[float, float]:
    """Return the middle of the range of `values` and half its width, in their unit: `measured` and `error`.

    A claim given these is held only when every value lies within its bounds, and refuted only when none
    does. With n rounds that could as well have fallen either way, chance makes such a claim held once in 2ⁿ
    times.
    """
    low, high = min(values), max(values)
    return (low + high) / 2, (high - low) / 2


def middle(values: Sequence[float]) -> tuple[float, float]:
    """Return where the median of what `values` are a sample of lies: the middle of that interval and half its width.

    The sign test's interval, which assumes nothing of how the values are spread: as many of the smallest and of the
    largest are left out as can be without missing the median in more than 4 % of samples (`UNLIKELY`). Of nine
    values that is one at each end, of twenty four; of fewer than nine it is none, and this is `every`.
    """
    left_out, below = 0, 1 + len(values)  # in how many of 2ⁿ ways at most one value lies below the median
    while 2 * below <= UNLIKELY * 2 ** len(values):
        left_out += 1
        below += math.comb(len(values), left_out + 1)
    return every(sorted(values)[left_out : len(values) - left_out])
