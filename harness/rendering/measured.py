"""Write a measured ratio with as many digits as its confidence interval supports (rule of the Particle Data Group)."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Final

from harness.rendering import units

MOST_DIGITS: Final = 3  # the most digits of a ratio, even if its interval supports more

# Half of the interval's width keeps two digits if it begins with less than 3.55 (Review of Particle Physics, 5.3).
_TWO_DIGITS_BELOW: Final = 3.55


def number(value: float, low: float, high: float) -> str:
    """Return a measured value with the digits that its interval supports: 44.3, 34.9, 56.3 → "44"."""
    if low == high or not 0 < value < math.inf:
        return units.number(value, MOST_DIGITS)
    return _text(value, _place(value, low, high), ROUND_HALF_EVEN)


def ratio(value: float, low: float, high: float) -> str:
    """Return a measured ratio with the digits that its interval supports: 44.3, 34.9, 56.3 → "44×"."""
    text = number(value, low, high)
    return text if text == units.UNKNOWN else text + units.TIMES


def interval(value: float, low: float, high: float) -> tuple[str, str]:
    """Return both ends of a ratio's interval, rounded outwards like the ratio: 44.3, 34.9, 56.3 → "34×", "57×"."""
    if low == high or not 0 < value < math.inf:
        return units.ratio(low), units.ratio(high)
    place = _place(value, low, high)
    return _end(low, place, ROUND_FLOOR), _end(high, place, ROUND_CEILING)


def _end(value: float, place: int, rounding: str) -> str:
    if not 0 < value < math.inf:
        return units.ratio(value)
    return _text(value, min(place, _exponent(value)), rounding) + units.TIMES


def _place(value: float, low: float, high: float) -> int:
    """Return the exponent of the last digit of `value` that its interval supports."""
    first = _exponent(value)
    if not 0 <= low < high:
        return first - MOST_DIGITS + 1
    if high == math.inf:
        return first
    mantissa, _, exponent = f"{(high - low) / 2:.2e}".partition("e")
    place = int(exponent) - (float(mantissa) < _TWO_DIGITS_BELOW)
    return min(max(place, first - MOST_DIGITS + 1), first)


def _exponent(value: float) -> int:
    return int(f"{value:.{MOST_DIGITS - 1}e}".partition("e")[2])


def _text(value: float, place: int, rounding: str) -> str:
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(place), rounding=rounding)
    return f"{rounded:,f}".replace(",", " ")
