"""Numbers as people read them: three digits and a unit; zero, infinity and not-a-number are safe.

A number that is whole in its unit is printed whole ("200 ms" for a setting); any other shows three
significant digits, which is more than a measurement on a shared machine deserves.
"""

import math

UNKNOWN = "n/a"
"""Stands for a value that is not a number: it was not, or could not be, measured."""

TIMES = "\N{MULTIPLICATION SIGN}"

_MINUTE_S = 60
_HOUR_S = 3600
_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))
_SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def number(value: float, digits: int = 3) -> str:
    """Return a bare number with `digits` significant digits, its thousands set apart: 4.312 → "4.31"."""
    if math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if round(value, 9) == round(value) != 0:
        return f"{round(value):,}".replace(",", " ")
    # The exponent is taken after rounding: 9.996 has three digits as 10.0, not as 10.00.
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    if exponent < -6:
        return f"{value:.{digits - 1}e}"
    return f"{value:,.{max(digits - 1 - exponent, 0)}f}".replace(",", " ")


def seconds(value: float, digits: int = 3) -> str:
    """Return a duration in the unit that fits it: 1.07e-4 → "107 µs", 218 → "3 min 38 s"."""
    if not math.isfinite(value) or value == 0:
        return UNKNOWN if math.isnan(value) else f"{number(value)} s"
    if abs(value) >= _MINUTE_S - 0.05:
        return _long_duration(value)
    # A value that rounds up to the next unit takes it: 0.9996 ms is 1.00 ms, not 1 000 µs.
    rounded = abs(float(f"{value:.{digits - 1}e}"))
    scale, unit = next((pair for pair in _TIME_UNITS if rounded >= pair[0]), _TIME_UNITS[-1])
    return f"{number(value / scale, digits)} {unit}"


def _long_duration(value: float) -> str:
    sign = "-" if value < 0 else ""
    if abs(value) < _HOUR_S - 0.5:
        minutes, rest = divmod(round(abs(value)), _MINUTE_S)
        large, small = f"{minutes} min", f"{rest} s"
    else:
        hours, rest = divmod(round(abs(value) / _MINUTE_S), _MINUTE_S)
        large, small = f"{number(hours)} h", f"{rest} min"
    return sign + (f"{large} {small}" if rest else large)


def count(value: float) -> str:
    """Return a whole number with its thousands set apart: 2000 → "2 000"."""
    return number(round(value)) if math.isfinite(value) else number(value)


def some(value: float, noun: str) -> str:
    """Format a number of things whose plural ends in s: "1 lane", "2 lanes", "12 345 rows"."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def percent(fraction: float, digits: int = 2) -> str:
    """Return a fraction as a percentage, trailing zeros left out: 0.019 → "1.9 %", 1.46 → "146 %"."""
    text = number(fraction * 100, digits)
    if "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".")
    return text if text == UNKNOWN else f"{text} %"


def ratio(value: float, digits: int = 3) -> str:
    """Return how many times one thing is another: 4.312 → "4.31" with a multiplication sign."""
    text = number(value, digits)
    return text if text == UNKNOWN else text + TIMES


def size(n_bytes: float) -> str:
    """Return an amount of memory in binary units: 50_000_000 → "47.7 MiB"."""
    if not math.isfinite(n_bytes):
        return UNKNOWN if math.isnan(n_bytes) else f"{number(n_bytes)} B"
    value = float(n_bytes)
    for unit in _SIZE_UNITS[:-1]:
        if abs(value) < 1023.5:
            return f"{number(value)} {unit}"
        value /= 1024
    return f"{number(value)} {_SIZE_UNITS[-1]}"
