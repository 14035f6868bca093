"""Read numbers as students type them: "2 000", "2,000", "0,5", "2.5e3", "1 million", "60k", "3 ms", "50%"."""

import math
import re
from typing import Final

SCALES: Final = {
    "k": 1e3,
    "thousand": 1e3,
    "million": 1e6,
    "millions": 1e6,
    "mio": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "billions": 1e9,
    "bn": 1e9,
}
SECONDS: Final = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("µs", "μs", "us", "usec", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nanosecond", "nanoseconds"), 1e-9),
    **dict.fromkeys(("min", "minute", "minutes"), 60.0),
}
RATIOS: Final = frozenset({"", "times"})
"""Units of ratios. A student may also type a ratio as a percentage: 50 % means 0.5 times."""

_NUMBER: Final = re.compile(
    r"(?:about|around|roughly|circa|ca\.?|~|≈)?\s*([\d.,'_\s]*\d\.?(?:e[+-]?\d+)?)\s*(.*)", re.IGNORECASE
)
_GROUPS: Final = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?(e[+-]?\d+)?")
_PLAIN: Final = re.compile(r"(\d*[.,]?\d+|\d+\.)(e[+-]?\d+)?")


def positive(typed: str, unit: str) -> float | None:
    """Return the number that was typed, in `unit`.

    Return None if the text is not a positive number, or if its unit cannot be converted to `unit`.
    """
    found = _NUMBER.fullmatch(typed.strip())
    if not found:
        return None
    value, factor = _digits(found[1].casefold()), _factor(found[2].strip(), unit)
    if value is None or factor is None:
        return None
    value *= factor
    return value if math.isfinite(value) and value > 0 else None


def _digits(text: str) -> float | None:
    text = re.sub(r"[\s_']", "", text)
    if _GROUPS.fullmatch(text):
        text = text.replace(",", "")
    return float(text.replace(",", ".")) if _PLAIN.fullmatch(text) else None


def _factor(words: str, unit: str) -> float | None:
    """Return the factor that `words`, the text after the digits, stands for. Return None if it does not fit `unit`."""
    if words == "M" and unit not in SECONDS:  # a lower-case m may mean milli or metres
        return 1e6
    scale, own = 1.0, unit.casefold()
    words = words.casefold().rstrip(".")
    first, _, rest = words.partition(" ")
    if first in SCALES:
        scale, words = SCALES[first], rest.strip()
    if words in {"", own, own if own in SECONDS else own.removesuffix("s")}:
        return scale
    if own in SECONDS and words in SECONDS:
        return scale * SECONDS[words] / SECONDS[own]
    if own in RATIOS and words in {"x", "×"}:
        return scale
    return 0.01 if own in RATIOS and words in {"%", "percent", "per cent"} else None
