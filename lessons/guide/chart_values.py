"""The values of a chart: numbers that are read from recorded texts, such as "8.30 µs", and their places on an axis."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

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

LOGARITHMIC_FROM: Final = 50
"""The ratio of the largest to the smallest value from which the axis is logarithmic. Short bars would be invisible."""

_NUMBER: Final = r"[+-]?\d+(?: \d{3})*(?:\.\d+)?(?:e[+-]?\d+)?"
_VALUE: Final = re.compile(rf"({_NUMBER}) ?({'|'.join(UNITS)})?")


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
    return Reading(float(match[1].replace(" ", "")) * scale, kind)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from the value `low` at the place `left` to the value `high` at the place `right`."""

    low: float
    high: float
    left: float
    right: float
    logarithmic: bool

    @classmethod
    def over(cls, values: Sequence[float], left: float, right: float, *, may_be_logarithmic: bool = True) -> Self:
        """Return the axis for these values. A linear axis contains zero."""
        low, high = min(values), max(values)
        if may_be_logarithmic and low > 0 and high / low >= LOGARITHMIC_FROM:
            return cls(low / 1.3, high * 1.1, left, right, logarithmic=True)
        low, high = min(0.0, low), max(0.0, high)
        return cls(low, high if low < high else 1.0, left, right, logarithmic=False)

    @property
    def at_zero(self) -> float | None:
        """The place of zero, or None on a logarithmic axis."""
        return None if self.logarithmic else self.place(0.0)

    def place(self, value: float) -> float:
        """Return the place of a value."""
        if self.logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.left + share * (self.right - self.left)
