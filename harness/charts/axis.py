"""The axis of a chart, linear or logarithmic: it maps values to places."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from the value `low` at the place `start` to the value `high` at the place `end`.

    On a logarithmic axis, doubling any value moves it by the same distance. A value outside the range is drawn at the
    nearer end.
    """

    low: float
    high: float
    start: float = 0.0
    end: float = 1.0
    log: bool = False

    def share(self, value: float) -> float:
        """Return the position of a value on the axis: 0 at `low`, 1 at `high`."""
        if not self.low < self.high:
            return 0.5
        value = min(max(value, self.low), self.high)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def place(self, value: float) -> float:
        """Return the place of a value."""
        return self.start + self.share(value) * (self.end - self.start)

    def value(self, share: float) -> float:
        """Return the value at the position `share` of the axis: `low` at 0, `high` at 1."""
        if self.log:
            return self.low * math.exp(share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)

    def counts(self, values: Sequence[float], bins: int) -> tuple[int, ...]:
        """Return the number of values in each of `bins` equally wide parts of the axis. NaN is not counted.

        Values outside the axis are counted in the first or last part.
        """
        found = [0] * bins
        for value in values:
            if not math.isnan(value):
                found[min(int(self.share(value) * bins + 1e-9), bins - 1)] += 1
        return tuple(found)
