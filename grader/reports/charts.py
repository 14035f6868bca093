"""Compute the rectangles, lines and labels of small charts, and a description of each chart for screen readers.

The macro in `charts.html` draws a chart. A chart is `WIDTH` units wide. On a phone, one unit is about one pixel, so
labels stay readable. CSS classes set the colours.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

from harness.rendering import measured, units

WIDTH: Final = 310
HEIGHT: Final = 124
FLOOR: Final = 104
"""The y position of the bottom of a chart's bars. The labels of the axis are below."""
TOP: Final = 32
"""The y position of the top of a chart's tallest bar. The bar's count and the labels of marks are above."""
LEFT, RIGHT = 6, WIDTH - 6

Show = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle of a chart. `css_class` sets its colour. `tooltip` is shown under the mouse pointer."""

    x: float
    y: float
    width: float
    height: float
    css_class: str = "bar"
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line of a chart from (x, y) to (right, bottom)."""

    x: float
    y: float
    right: float
    bottom: float
    css_class: str = "axis"


@dataclass(frozen=True, slots=True)
class Label:
    """A text of a chart at (x, y). `anchor` is the part of the text that is at x: its start, its middle or its end."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "middle"
    css_class: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """The rectangles, lines and labels of a chart. `label` describes the chart for screen readers."""

    label: str
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    labels: tuple[Label, ...]
    height: int = HEIGHT
    width: int = WIDTH


@dataclass(frozen=True, slots=True)
class Axis:
    """A chart's axis from `low` to `high`. A value outside this range is drawn at the nearer end."""

    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Return the position of a value on the axis: 0 at `low`, 1 at `high`."""
        if not self.low < self.high:
            return 0.5
        scale: Callable[[float], float] = math.log if self.log else float
        low, high, at = scale(self.low), scale(self.high), scale(value)
        return min(max((at - low) / (high - low), 0.0), 1.0)

    def x(self, value: float) -> float:
        """Return the x coordinate of a value in the chart."""
        return round(LEFT + self.share(value) * (RIGHT - LEFT), 1)

    def edge(self, share: float) -> float:
        """Return the value at the position `share` of the axis: `low` at 0, `high` at 1."""
        if self.log:
            return self.low * math.exp(share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Mark:
    """A value that is marked on a chart's axis with a line and a label, such as a grade threshold."""

    value: float
    text: str
    css_class: str = "mark"


def ratio_axis(values: Sequence[float], marks: Sequence[float] = ()) -> Axis:
    """Return a logarithmic axis that includes all finite ratios and marked values, with a small margin."""
    usable = [value for value in (*values, *marks) if 0 < value < math.inf]
    low, high = min(usable, default=1.0), max(usable, default=1.0)
    room = max((high / low) ** 0.05, 1.005)
    return Axis(low / room, high * room, log=True)


def central_range(values: Sequence[float], share: float = 0.02) -> tuple[float, float]:
    """Return the lowest and highest value after the fraction `share` of the values is removed at each end.

    Raise `ValueError` without values.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("At least one value is needed.")
    cut = int(len(ordered) * share)
    return ordered[cut], ordered[-1 - cut]


def histogram(
    values: Sequence[float],
    axis: Axis,
    *,
    label: str,
    bins: int = 20,
    unit: Show = units.number,
    marks: Sequence[Mark] = (),
    band: tuple[float, float] | None = None,
) -> Chart:
    """Return a histogram with `bins` bars. Values outside the axis are counted in its first or last bar.

    `band` is an interval that is shaded behind the bars. `marks` are values to mark on the axis. `unit` shows a value
    as text. The description for screen readers begins with `label`.
    """
    counts = count_in_bins(values, axis, bins)
    most = max(counts, default=0)
    pitch = (RIGHT - LEFT) / bins
    boxes = [
        Box(
            round(LEFT + number * pitch, 1),
            round(FLOOR - height, 1),
            round(pitch * 0.9, 1),
            round(height, 1),
            tooltip=f"{unit(axis.edge(number / bins))} to {unit(axis.edge((number + 1) / bins))}: {units.count(n)}",
        )
        for number, n in enumerate(counts)
        if n and (height := max(n / most * (FLOOR - TOP), 1.5))
    ]
    shade = []
    if band:
        left, right = axis.x(band[0]), axis.x(band[1])
        shade = [Box(left, TOP - 14, max(round(right - left, 1), 1.0), FLOOR - TOP + 14, "band")]
    lines = [Line(LEFT, FLOOR, RIGHT, FLOOR), *(_line(axis, mark) for mark in marks)]
    ends = [Label(LEFT, FLOOR + 15, unit(axis.low), "start"), Label(RIGHT, FLOOR + 15, unit(axis.high), "end")]
    ends += _peak(boxes, most)
    description = f"{label}: {describe(values, unit)}" + (
        f" Marks: {', '.join(mark.text for mark in marks)}." if marks else ""
    )
    return Chart(description, (*shade, *boxes), tuple(lines), (*ends, *_labels(axis, marks)))


def count_in_bins(values: Sequence[float], axis: Axis, bins: int) -> tuple[int, ...]:
    """Return the number of values in each of `bins` equally wide parts of the axis. NaN is not counted."""
    counts = [0] * bins
    for value in values:
        if not math.isnan(value):
            beyond = value if not axis.log or value > 0 else axis.low
            counts[min(int(axis.share(min(beyond, axis.high)) * bins + 1e-9), bins - 1)] += 1
    return tuple(counts)


def describe(values: Sequence[float], unit: Show) -> str:
    """Return the number, range and median of the values as text, for users of screen readers."""
    known = sorted(value for value in values if not math.isnan(value))
    if not known:
        return "no values."
    if known[0] == known[-1]:
        return f"{units.some(len(known), 'value')}, all {unit(known[0])}."
    half = f", half of them between {unit(known[len(known) // 4])} and {unit(known[-1 - len(known) // 4])}"
    return (
        f"{units.some(len(known), 'value')} from {unit(known[0])} to {unit(known[-1])}, median {unit(median(known))}"
        f"{half if len(known) > 4 else ''}."
    )


def ladder(ratio: float, low: float, high: float, tiers: Sequence[Mark], *, label: str) -> Chart:
    """Return a chart of a measured ratio, its interval from `low` to `high`, and grade thresholds on one axis."""
    axis = ratio_axis([ratio, low, high, 1.0], [tier.value for tier in tiers])
    y = 38
    left, right, middle = axis.x(low), axis.x(high), axis.x(ratio)
    boxes = (
        Box(left, y - 5, max(round(right - left, 1), 2.0), 10, "interval"),
        Box(round(middle - 1.5, 1), y - 9, 3, 18, "bar"),
    )
    lines = [
        Line(LEFT, y, RIGHT, y),
        *(Line(axis.x(t.value), y - 15, axis.x(t.value), y + 15, t.css_class) for t in tiers),
    ]
    labels = [
        Label(middle, y + 27, measured.ratio(ratio, low, high), _anchor(axis.share(ratio)), "strong"),
        *_labels(axis, tiers),
    ]
    return Chart(label, boxes, tuple(lines), tuple(labels), height=72)


def time_line(
    spans: Sequence[tuple[float, float, float] | None], axis: Axis, *, label: str, begin: str, end: str, unit: Show
) -> Chart:
    """Return a chart over time. `spans` has the lowest, median and highest value in each time interval, or None.

    `axis` is the vertical axis, on which the values are drawn.
    """
    pitch = (RIGHT - LEFT) / max(len(spans), 1)

    def y(value: float) -> float:
        return round(FLOOR - axis.share(value) * (FLOOR - TOP), 1)

    boxes = []
    for number, span in enumerate(spans):
        if span:
            low, middle, high = span
            at, top = LEFT + number * pitch, y(high)
            boxes.append(Box(round(at, 1), top, round(pitch * 0.8, 1), max(round(y(low) - top, 1), 1.0), "interval"))
            boxes.append(Box(round(at, 1), round(y(middle) - 1, 1), round(pitch * 0.8, 1), 2, "bar"))
    labels = (
        Label(LEFT, FLOOR + 15, begin, "start"),
        Label(RIGHT, FLOOR + 15, end, "end"),
        Label(LEFT, TOP - 5, unit(axis.high), "start"),
        Label(LEFT, FLOOR - 3, unit(axis.low), "start"),
    )
    return Chart(label, tuple(boxes), (Line(LEFT, FLOOR, RIGHT, FLOOR),), labels)


def columns(heights: Sequence[float], *, label: str, begin: str, end: str) -> Chart:
    """Return a bar chart. Each bar stands for one of many equal intervals, such as intervals of time."""
    most = max(heights, default=0.0)
    pitch = (RIGHT - LEFT) / max(len(heights), 1)
    boxes = tuple(
        Box(round(LEFT + number * pitch, 1), round(FLOOR - height, 1), round(pitch * 0.9, 1), round(height, 1))
        for number, value in enumerate(heights)
        if value > 0 and (height := max(value / most * (FLOOR - TOP), 1.5))
    )
    labels = (Label(LEFT, FLOOR + 15, begin, "start"), Label(RIGHT, FLOOR + 15, end, "end"), *_peak(boxes, most))
    return Chart(label, boxes, (Line(LEFT, FLOOR, RIGHT, FLOOR),), labels)


def _peak(boxes: Sequence[Box], most: float) -> list[Label]:
    """Return a label above the tallest bar with the count `most`. Return no label without bars."""
    if not boxes:
        return []
    tallest = min(boxes, key=lambda box: box.y)
    return [Label(round(tallest.x + tallest.width / 2, 1), tallest.y - 3, units.count(most))]


def _line(axis: Axis, mark: Mark) -> Line:
    x = axis.x(mark.value)
    return Line(x, TOP - 14, x, FLOOR, mark.css_class)


def _labels(axis: Axis, marks: Sequence[Mark]) -> list[Label]:
    """Return the labels of marked values. A label that would overlap another one is left out."""
    labels: list[Label] = []
    free = -math.inf
    for mark in sorted(marks, key=lambda one: one.value):
        share, wide = axis.share(mark.value), 6.2 * len(mark.text)
        anchor = _anchor(share)
        left = axis.x(mark.value) - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        if left >= free:
            labels.append(Label(axis.x(mark.value), TOP - 19, mark.text, anchor, mark.css_class))
            free = left + wide + 4
    return labels


def _anchor(share: float) -> Literal["start", "middle", "end"]:
    """Return the alignment of a label at a position from 0 to 1 on the axis, so that the label stays in the chart."""
    return "start" if share < 0.15 else "end" if share > 0.85 else "middle"
