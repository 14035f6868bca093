"""Read measured values back from the texts that a recorded run contains, such as "8.30 µs" or "18.1× to 41.9×".

A record made before its claims had numbers keeps only texts. The pack draws pictures from the numbers in them.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from lessons.engine.claim import Claim
from lessons.engine.interval import Interval
from lessons.guide.results import ClaimResult

TIME, SIZE, PERCENT, RATIO, NUMBER = "time", "size", "percent", "ratio", "number"

UNITS: Final = {
    "ps": (TIME, 1e-12),
    "ns": (TIME, 1e-9),
    "µs": (TIME, 1e-6),
    "ms": (TIME, 1e-3),
    "s": (TIME, 1.0),
    "B": (SIZE, 1.0),
    "KiB": (SIZE, 1024.0),
    "MiB": (SIZE, 1024.0**2),
    "GiB": (SIZE, 1024.0**3),
    "%": (PERCENT, 0.01),
    "×": (RATIO, 1.0),
}
"""The kind of each unit, and its size in the base unit of the kind."""

NEARLY_WHOLE: Final = 1 + 1e-6
"""A factor that gives a whole number decimals. Its text is then "42.0×", and no longer "42×"."""

_NUMBER: Final = r"[+-]?\d+(?: \d{3})*(?:\.\d+)?(?:e[+-]?\d+)?"
_VALUE: Final = re.compile(rf"({_NUMBER}) ?({'|'.join(UNITS)})?")
_START: Final = re.compile(rf"({_NUMBER}) ?(%|×|\w+)?")


@dataclass(frozen=True, slots=True)
class Reading:
    """A number that was read from a text, in the base unit of its kind, such as seconds for `TIME`."""

    value: float
    kind: str


def read(text: str) -> Reading | None:
    """Return the value that the whole text is, such as "8.30 µs", or None if the text is something else."""
    match = _VALUE.fullmatch(text.strip())
    if match is None:
        return None
    kind, scale = UNITS[match[2]] if match[2] else (NUMBER, 1.0)
    return Reading(_float(match[1]) * scale, kind)


def completed(claim: Claim, result: ClaimResult) -> ClaimResult:
    """Return the recorded result of a claim with the numbers that its text contains, and with the claim's bounds.

    Return `result` unchanged if it has numbers, or if its text cannot be read with certainty. It is certain if the unit
    of the claim formats the numbers as the same text again, and if they lead to the recorded verdict.
    """
    if result.measured is not None or result.ends is not None:
        return result
    ends = _ends(claim, result.shown)
    if ends is None:
        return result
    low, high = ends
    verdict = Interval(low, low, high).compare(at_least=claim.at_least, at_most=claim.at_most)
    if verdict.value != result.verdict:
        return result
    return replace(
        result,
        measured=low if low == high else None,
        low=finite(claim.at_least),
        high=finite(claim.at_most),
        ends=ends,
    )


def finite(value: float) -> float | None:
    """Return the value, or None for infinity and not-a-number."""
    return value if math.isfinite(value) else None


def _ends(claim: Claim, shown: str) -> tuple[float, float] | None:
    """Return both ends of the measured interval in the text of a claim, or None."""
    first, _, second = shown.partition(", ")[0].partition(" to ")
    low = _value(claim, first)
    high = _value(claim, second) if second else low
    return None if low is None or high is None or low > high else (low, high)


def _value(claim: Claim, text: str) -> float | None:
    """Return the value that the unit of the claim formats as this text, or None."""
    for value in _candidates(text):
        try:
            if text in {claim.unit(value), claim.unit(value * NEARLY_WHOLE)}:
                return value
        except (ValueError, ArithmeticError, LookupError, TypeError):
            return None
    return None


def _candidates(text: str) -> Iterator[float]:
    match = _START.match(text)
    if match:
        number = _float(match[1])
        yield number
        if match[2] in UNITS:
            yield number * UNITS[match[2]][1]


def _float(text: str) -> float:
    return float(text.replace(" ", ""))
