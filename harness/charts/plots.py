"""Draw histograms, bars, sparklines and curves as terminal text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.rendering.units import Format, count, known, number, seconds

Points = Sequence[tuple[float, float]]  # the points of a curve: (x, y), all positive

MARKS = "●○▲△■□◆◇"
"""The marks of up to eight curves. They differ in shape, because some readers cannot distinguish colours."""

_BOTH = "✕"  # the mark where points of two curves have the same position

_COLUMNS, _ROWS = 56, 10
_HEIGHTS = "▁▂▃▄▅▆▇█"
_WIDTHS = "▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from the value `low` at the place `start` to the value `high` at the place `end`, linear or logarithmic.

    A value outside the range is drawn at the nearer end.
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
            return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        part = 1.0 if math.isfinite(self.high - self.low) else 0.5  # the difference of two large numbers is infinite
        return (value * part - self.low * part) / (self.high * part - self.low * part)

    def place(self, value: float) -> float:
        """Return the place of a value."""
        return self.start + self.share(value) * (self.end - self.start)

    def value(self, share: float) -> float:
        """Return the value at the position `share` of the axis: `low` at 0, `high` at 1."""
        if self.log:
            return math.exp((1 - share) * math.log(self.low) + share * math.log(self.high))
        return (1 - share) * self.low + share * self.high

    def counts(self, values: Sequence[float], bins: int) -> tuple[int, ...]:
        """Return the number of values in each of `bins` equally wide parts of the axis. NaN is not counted."""
        found = [0] * bins
        for value in values:
            if not math.isnan(value):
                found[min(int(self.share(value) * bins + 1e-9), bins - 1)] += 1
        return tuple(found)


def range_of(samples: Sequence[float], bins: int) -> Axis:
    """Return an axis from the smallest to the largest sample.

    Raise `ValueError` if there are no samples, if a sample is not finite, or if `bins` is below one.
    """
    if not samples or bins < 1 or not all(map(math.isfinite, samples)):
        raise ValueError("A histogram needs one bin or more, and samples that are all finite.")
    return Axis(min(samples), max(samples))


def histogram(samples: Sequence[float], bins: int = 16, unit: Format = seconds) -> str:
    """Return a histogram as one line, such as "104 µs ▁▃█▇▄▂▂▁▁▁▁ ▁ 188 µs". Raise `ValueError` as `range_of` does."""
    axis = range_of(samples, bins)
    counts = axis.counts(samples, bins if axis.low < axis.high else 1)
    bars = "".join(" " if n == 0 else _HEIGHTS[math.ceil(n / max(counts) * 8) - 1] for n in counts)
    return f"{unit(axis.low)} {bars} {unit(axis.high)}"


def sparkline(values: Sequence[float]) -> str:
    """Return one bar character per value, higher for larger values. A value that is not finite becomes a space."""
    finite = [value for value in values if math.isfinite(value)]
    axis = Axis(min(finite, default=0.0), max(finite, default=0.0))
    most = len(_HEIGHTS) - 1 if axis.low < axis.high else 0
    return "".join(_HEIGHTS[round(axis.share(v) * most)] if math.isfinite(v) else " " for v in values)


def bars(rows: Sequence[tuple[str, float]], width: int = 40, unit: Format = number) -> str:
    """Return one line per row: the label, a bar of at most `width` characters, and the value.

    Raise `ValueError` for a negative value.
    """
    if any(value < 0 for _, value in rows):
        raise ValueError("Bars start at zero, so they cannot show a negative value.")
    longest = max((value for _, value in rows if math.isfinite(value)), default=0.0)
    margin = max((len(label) for label, _ in rows), default=0)
    return "\n".join(f"{label:<{margin}}  {_bar(value, longest, width)}{known(value, unit)}" for label, value in rows)


def _bar(value: float, longest: float, width: int) -> str:
    if not math.isfinite(value) or value == 0:
        return ""
    eighths = max(round(value / longest * width * 8), 1)
    rest = _WIDTHS[eighths % 8 - 1] if eighths % 8 else ""
    return f"{'█' * (eighths // 8)}{rest} "


def axes_of(series: Mapping[str, Points], width: float, height: float) -> tuple[Axis, Axis]:
    """Return a horizontal and a vertical logarithmic axis for curves, such as time against size.

    Raise `ValueError` if there are no points, if a coordinate is not positive and finite, or if there are more than
    eight curves.
    """
    points = [point for each in series.values() for point in each]
    if not points or not all(series.values()) or not all(0 < value < math.inf for point in points for value in point):
        raise ValueError("A plot needs curves with points, all of them positive and finite.")
    if len(series) > len(MARKS):
        raise ValueError(f"A plot can show at most {len(MARKS)} curves, because there are no more marks.")
    ends = [(min(values), max(values)) for values in zip(*points, strict=True)]
    (left, right), (low, high) = (pair if pair[0] < pair[1] else (pair[0] / 2, pair[0] * 2) for pair in ends)
    return Axis(left, right, 0, width, log=True), Axis(low, high, height, 0, log=True)


def curves(series: Mapping[str, Points]) -> str:
    """Return a text plot of times against counts, with a legend. Raise `ValueError` as `axes_of` does."""
    across, up = axes_of(series, _COLUMNS - 1, _ROWS - 1)
    places: dict[tuple[int, int], str] = {}
    for mark, points in zip(MARKS, series.values(), strict=False):
        for x, y in points:
            place = round(across.place(x)), round(up.place(y))
            places[place] = mark if places.get(place, mark) == mark else _BOTH
    left = [seconds(up.high), *[""] * (_ROWS - 2), seconds(up.low)]
    margin = max(map(len, left))
    lines = [
        f"{label:>{margin}} │{''.join(places.get((column, row), ' ') for column in range(_COLUMNS))}".rstrip()
        for row, label in enumerate(left)
    ]
    ends = f"{count(across.low)}{count(across.high):>{_COLUMNS - len(count(across.low))}}"
    entries = [f"{mark} {name}" for mark, name in zip(MARKS, series, strict=False)]
    if _BOTH in places.values():
        entries.append(f"{_BOTH} {'both' if len(series) == 2 else 'several'}")
    legend = [entries[0]]
    for entry in entries[1:]:
        if len(longer := f"{legend[-1]}   {entry}") <= _COLUMNS:
            legend[-1] = longer
        else:
            legend.append(entry)
    below = [f"└{'─' * _COLUMNS}", f" {ends}", *(f" {line}" for line in legend)]
    return "\n".join([*lines, *(f"{'':>{margin}} {line}" for line in below)])
