"""The horizontal axis of a chart: it is logarithmic if the values are positive and very different."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

LOGARITHMIC_FROM: Final = 50
"""The ratio of the largest to the smallest value from which the axis is logarithmic. Short bars would be invisible."""


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
