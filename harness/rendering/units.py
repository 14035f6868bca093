"""Format numbers with three significant digits and a unit. Whole numbers have no decimals, for example "200 ms"."""

import math
from collections.abc import Callable, Collection

UNKNOWN = "n/a"
"""The text that is printed for an unknown value, for example a value that was not measured."""

Format = Callable[[float], str]
"""A function that converts a number to text, such as `seconds` or `ratio`."""

TIMES = "\N{MULTIPLICATION SIGN}"
_DIGITS_BELOW = 1e15  # a number from here on is written with an exponent, because floats do not have more digits
_MINUTE_S, _HOUR_S = 60, 3600
_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))
_SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def known(value: float, unit: Format) -> str:
    """Return `value` as text, formatted by `unit`. For a number that is not finite, return `UNKNOWN`."""
    return unit(value) if math.isfinite(value) else UNKNOWN


def number(value: float, digits: int = 3) -> str:
    """Return a number with `digits` significant digits and spaces between thousands: 4.312 → "4.31"."""
    if math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if abs(value) >= _DIGITS_BELOW:
        return f"{value:.{digits - 1}e}".replace("e+", "e")
    if round(value, 9) == round(value) != 0:
        return f"{round(value):,}".replace(",", " ")
    # The exponent is that of the rounded number: 9.996 with three digits is 10.0, not 10.00.
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    if exponent < -6:
        return f"{value:.{digits - 1}e}"
    return f"{value:,.{max(digits - 1 - exponent, 0)}f}".replace(",", " ")


def seconds(value: float, digits: int = 3) -> str:
    """Return a duration in a suitable unit: 1.07e-4 → "107 µs", 218 → "3 min 38 s"."""
    if not math.isfinite(value) or value == 0:
        return UNKNOWN if math.isnan(value) else f"{number(value)} s"
    if abs(value) >= _MINUTE_S - 0.05:
        return _long_duration(value)
    # If rounding gives a whole larger unit, this unit is used: 999.6 µs becomes 1.00 ms, not 1 000 µs.
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
    """Return a whole number with spaces between thousands: 2000 → "2 000"."""
    return number(round(value)) if math.isfinite(value) else number(value)


def some(value: float, noun: str) -> str:
    """Return a number with a noun in singular or plural (with s): "1 lane", "2 lanes", "12 345 rows"."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def few(texts: Collection[str], most: int = 5, separator: str = ", ") -> str:
    """Return the first `most` texts, and the number of the others: "ada, bob and 3 more"."""
    more = f" and {count(len(texts) - most)} more" if len(texts) > most else ""
    return separator.join([*texts][:most]) + more


def percent(fraction: float, digits: int = 2) -> str:
    """Return a fraction as a percentage without trailing zeros: 0.019 → "1.9 %", 1.46 → "146 %"."""
    text = number(fraction * 100, digits)
    if "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".")
    return text if text == UNKNOWN else f"{text} %"


def deviation(got: float, want: float, more: str = "too large", less: str = "too small") -> str:
    """Return in words how far a value is from the right one: "3 % too large", "12 times too small", "1e15 times …".

    `more` and `less` say on which side the value is. A right value of 0, infinity or NaN has words of its own.
    """
    if math.isnan(got) or math.isnan(want):
        return "NaN instead of a number" if math.isnan(got) else "a number instead of NaN"
    if math.isinf(got) or math.isinf(want):
        ends = "infinite instead of finite", "finite instead of infinite", "the wrong sign"
        return ends[math.isinf(want) + (math.isinf(want) and math.isinf(got))]
    if want == 0:
        return f"off by {number(abs(got))}"
    if got * math.copysign(1, want) < 0:
        return "the wrong sign"
    times = abs(got / want)
    if 0.5 < times < 2 or got == 0:
        return f"{percent(abs(times - 1))} {more if times > 1 else less}"
    factor = times if times > 1 else abs(want / got)
    found = number(factor, 2) if factor < 1e6 else f"{factor:.1e}".replace("e+0", "e").replace("e+", "e")
    return f"{'over 1e308' if math.isinf(factor) else found} times {more if times > 1 else less}"


def ratio(value: float, digits: int = 3) -> str:
    """Return a ratio with a multiplication sign: 4.312 → "4.31×"."""
    text = number(value, digits)
    return text if text == UNKNOWN else text + TIMES


def size(n_bytes: float) -> str:
    """Return a number of bytes in binary units: 50_000_000 → "47.7 MiB"."""
    if not math.isfinite(n_bytes):
        return UNKNOWN if math.isnan(n_bytes) else f"{number(n_bytes)} B"
    value = float(n_bytes)
    for unit in _SIZE_UNITS[:-1]:
        if abs(value) < 1023.5:
            return f"{number(value)} {unit}"
        value /= 1024
    return f"{number(value)} {_SIZE_UNITS[-1]}"
